import { z } from 'zod';
import type { Hit } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import { atResource, coversAny, globs, planOf, terraformRule } from './define-terraform-rule';
import type { TerraformAction, TerraformResource } from '../facts/terraform-facts';
import { isDestroyed, member, valueAt } from './values';
import { wordList } from '../../../policy/text/word-list';

const Types = globs(200, 500);

export const destroy = terraformRule({
  name: 'terraform_destroy',
  logicRevision: 3,
  defaultLevel: 'confirm',
  why: 'Destroying a resource also destroys its data and its address.',
  config: z.strictObject({
    types: Types.nullable().default(null).describe('Globs of resource types; null for all.'),
    except: Types.default([]).describe('Globs of types that may be destroyed.'),
  }),
  examples: {
    bad: planOf([{ address: 'module.a.aws_instance.web[0]', actions: ['delete'], before: {} }]),
    good: planOf([
      { address: 'aws_instance.web', actions: ['no-op'], before: {}, after: {}, previous_address: 'aws_instance.old' },
    ]),
  },
  find: ({ resources }, { types, except }) =>
    resources
      .filter((r) => isDestroyed(r) && r.action === 'delete' && wanted(r.type, types, except))
      .map((r) =>
        atResource(r, `is destroyed${r.actionReason === null ? '' : ` (${shown(r.actionReason.slice(0, 100))})`}`),
      ),
});

export const replace = terraformRule({
  name: 'terraform_replace',
  logicRevision: 3,
  defaultLevel: 'confirm',
  why: 'A replacement looks like an update but destroys the existing resource.',
  config: z.strictObject({
    types: Types.nullable().default(null).describe('Globs of resource types; null for all.'),
    except: Types.default([]).describe('Globs of types that may be replaced.'),
  }),
  examples: {
    bad: planOf([{ address: 'aws_instance.web', actions: ['create', 'delete'], before: {}, after: {} }]),
    good: planOf([{ address: 'aws_instance.web', actions: ['update'], before: {}, after: {} }]),
  },
  find: ({ resources }, { types, except }) =>
    resources
      .filter((r) => r.action === 'replace' && wanted(r.type, types, except))
      .map((r) =>
        atResource(
          r,
          r.destroyFirst
            ? 'is destroyed, then created again'
            : 'is replaced: a new one is created before the old one is destroyed',
        ),
      ),
});

function wanted(type: string, types: readonly string[] | null, except: readonly string[]): boolean {
  return !coversAny(except, type) && (types === null || coversAny(types, type));
}

/** Types whose destruction loses data, keys or names. */
const STATEFUL = wordList(`
  aws_db_* aws_rds_* aws_dynamodb_table aws_s3_bucket aws_efs_file_system aws_ebs_volume aws_elasticache_*
  aws_redshift_cluster aws_docdb_cluster* aws_neptune_cluster* aws_opensearch_domain aws_elasticsearch_domain
  aws_kms_key aws_secretsmanager_secret aws_route53_zone aws_backup_vault aws_ecr_repository aws_cognito_user_pool
  google_sql_database* google_storage_bucket google_bigquery_dataset google_bigquery_table google_spanner_*
  google_kms_crypto_key google_kms_key_ring google_dns_managed_zone google_compute_disk google_filestore_instance
  google_project azurerm_*sql_* azurerm_storage_account azurerm_storage_container azurerm_cosmosdb_*
  azurerm_key_vault* azurerm_managed_disk azurerm_dns_zone azurerm_resource_group kubernetes_persistent_volume*
  kubernetes_namespace
`);

export const protectedResource = terraformRule({
  name: 'terraform_protected_resource',
  logicRevision: 3,
  defaultLevel: 'forbid',
  why: 'The next apply does not restore the contents of databases, buckets, keys and zones.',
  config: z.strictObject({
    types: Types.default(STATEFUL).describe('Globs of types that must not be destroyed or replaced.'),
    addresses: globs(500, 500).default([]).describe('Globs of addresses that must not be changed at all.'),
    tags: z
      .record(z.string().min(1).max(200), z.string().max(200))
      .default({})
      .describe('Resources with one of these tags must not be destroyed or replaced.'),
    except: globs(500, 500).default([]).describe('Globs of addresses to exclude.'),
  }),
  examples: {
    bad: planOf([{ address: 'aws_db_instance.main', actions: ['delete', 'create'], before: {}, after: {} }]),
    good: planOf([{ address: 'aws_db_instance.main', actions: ['update'], before: {}, after: {} }]),
  },
  find: ({ resources }, { types, addresses, tags, except }) =>
    resources.flatMap((r): readonly Hit[] => {
      if (r.mode === 'data' || coversAny(except, r.address)) return [];
      const names = [r.address, ...(r.previousAddress === null ? [] : [r.previousAddress])];
      if (CHANGING.has(r.action) && names.some((name) => coversAny(addresses, name)))
        return [atResource(r, `is protected, but the plan would ${r.action} it`)];
      if (!isDestroyed(r) && r.action !== 'forget') return [];
      if (coversAny(types, r.type))
        return [atResource(r, `contains data that cannot be recreated, and the plan would ${r.action} it`)];
      const tagged = Object.entries(tags).find(([name, value]) => tagOf(r, name) === value);
      return tagged === undefined ? [] : [atResource(r, `is protected by its tag ${shown(tagged[0])}`)];
    }),
});

const CHANGING = new Set<TerraformAction>(['update', 'delete', 'replace', 'forget']);

function tagOf(resource: TerraformResource, name: string): unknown {
  for (const key of ['tags', 'tags_all', 'labels']) {
    const value = member(member(resource.before, key), name);
    if (value !== null) return value;
  }
  return null;
}

export const deletionProtection = terraformRule({
  name: 'terraform_deletion_protection',
  logicRevision: 3,
  defaultLevel: 'forbid',
  why: 'Disabling deletion protection prepares the destruction of the resource.',
  examples: {
    bad: planOf([
      {
        address: 'aws_db_instance.main',
        actions: ['update'],
        before: { deletion_protection: true },
        after: { deletion_protection: false },
      },
    ]),
    good: planOf([{ address: 'aws_db_instance.main', actions: ['delete'], before: { deletion_protection: false } }]),
  },
  find: ({ resources }) =>
    resources.flatMap((r): readonly Hit[] => {
      if (r.mode === 'data' || (r.action !== 'update' && !isDestroyed(r))) return [];
      const hits: Hit[] = [];
      for (const { name, on } of PROTECTIONS) {
        if (member(r.before, name) !== on) continue;
        if (r.action !== 'update') {
          // Settings about the data of a destroyed resource, such as `force_destroy`, do not forbid its destruction.
          if (on) hits.push(atResource(r, `is destroyed, though its ${name} is ${String(on)}`));
          continue;
        }
        const after = valueAt(r, [name]);
        if (after.state === 'hidden') hits.push(atResource(r, `the plan does not show its ${name}`));
        else if (after.state === 'absent' || after.value !== on)
          hits.push(atResource(r, `its ${name} is no longer ${String(on)}`, [name]));
      }
      return hits;
    }),
});

const PROTECTIONS: readonly { readonly name: string; readonly on: boolean }[] = [
  { name: 'deletion_protection', on: true },
  { name: 'deletion_protection_enabled', on: true },
  { name: 'enable_deletion_protection', on: true },
  { name: 'disable_api_termination', on: true },
  { name: 'termination_protection', on: true },
  { name: 'purge_protection_enabled', on: true },
  { name: 'force_destroy', on: false },
  { name: 'skip_final_snapshot', on: false },
];

/** Destroying a resource weighs as much as creating several. */
const WEIGHTS: Readonly<Record<TerraformAction, number>> = {
  'no-op': 0,
  read: 0,
  create: 1,
  update: 2,
  forget: 3,
  replace: 5,
  delete: 5,
};

export const blastRadius = terraformRule({
  name: 'terraform_blast_radius',
  logicRevision: 3,
  defaultLevel: 'confirm',
  why: 'A plan that changes dozens of resources cannot be reviewed one by one.',
  config: z.strictObject({
    maxWeight: z
      .int()
      .min(0)
      .default(50)
      .describe('Maximum sum of weights of all resources: create 1, update 2, forget 3, replace and delete 5.'),
    maxDestroyed: z.int().min(0).default(5).describe('Maximum number of destroyed or replaced resources.'),
  }),
  examples: {
    bad: planOf([{ address: 'aws_instance.a', actions: ['delete'], before: {} }]),
    good: planOf([{ address: 'aws_instance.a', actions: ['create'], after: {} }]),
    config: { maxDestroyed: 0 },
  },
  find: ({ resources }, { maxWeight, maxDestroyed }) => {
    let [weight, destroyed] = [0, 0];
    for (const r of resources) {
      if (r.mode !== 'managed') continue;
      weight += WEIGHTS[r.action];
      if (isDestroyed(r)) destroyed++;
    }
    const over = (value: number, most: number, what: string): readonly Hit[] =>
      value > most ? [{ at: '/resource_changes', what: `${what}, which exceeds the maximum of ${most}` }] : [];
    return [
      ...over(weight, maxWeight, `the weight of the changes is ${weight}`),
      ...over(destroyed, maxDestroyed, `${destroyed} resources are destroyed or replaced`),
    ];
  },
});
