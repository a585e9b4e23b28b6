import { z } from 'zod';
import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import { containsTrue } from '../facts/masks';
import { atResource, coversAddress, coversAny, globs, planOf, terraformRule } from './define-terraform-rule';
import type { TerraformAction, TerraformResource } from '../facts/terraform-facts';
import { isDestroyed, member, stepsOf, valueAt, type Path } from './values';
import { wordList } from '../../../policy/text/word-list';

const Types = globs(200, 500);

export const destroy = terraformRule({
  name: 'terraform_destroy',
  logicRevision: 5,
  defaultLevel: 'confirm',
  why: 'Destroying a resource also destroys its data and its address.',
  config: z.strictObject({
    types: Types.nullable().default(null).describe('Globs of resource types; null for all.'),
    except: Types.default([]).describe(
      'Globs of types that may be destroyed. A `removed` block, which a plan does not show, can then run commands.',
    ),
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
      .map((r) => atResource(r, `is destroyed${whyDestroyed(r)}`)),
});

/**
 * Terraform writes the provisioners of a `removed` block nowhere in the plan; apply runs them all the same:
 * https://developer.hashicorp.com/terraform/language/block/removed.
 */
function whyDestroyed({ actionReason }: TerraformResource): string {
  if (actionReason === null) return '';
  const reason = ` (${shown(actionReason.slice(0, 100))})`;
  return actionReason === 'delete_because_no_resource_config'
    ? `${reason}; if the configuration has a removed block for it, the plan does not show the commands of its provisioners`
    : reason;
}

export const replace = terraformRule({
  name: 'terraform_replace',
  logicRevision: 4,
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
  logicRevision: 5,
  defaultLevel: 'forbid',
  why: 'The next apply does not restore the contents of databases, buckets, keys and zones.',
  config: z.strictObject({
    types: Types.default(STATEFUL).describe('Globs of types that must not be destroyed or replaced.'),
    addresses: globs(500, 500)
      .default([])
      .describe('Globs of addresses that must not be changed at all, or renamed to another.'),
    tags: z
      .record(z.string().min(1).max(200), z.string().max(200))
      .default({})
      .describe('Resources with one of these tags must not be destroyed or replaced, or lose the tag.'),
    except: globs(500, 500).default([]).describe('Globs of addresses to exclude.'),
  }),
  examples: {
    bad: planOf([{ address: 'aws_db_instance.main', actions: ['delete', 'create'], before: {}, after: {} }]),
    good: planOf([{ address: 'aws_db_instance.main', actions: ['update'], before: {}, after: {} }]),
  },
  find: ({ resources }, { types, addresses, tags, except }) =>
    resources.flatMap((r): readonly Hit[] => {
      if (r.mode === 'data' || coversAddress(except, r.address)) return [];
      const isProtected = coversAddress(addresses, r.address);
      const wasProtected = r.previousAddress !== null && coversAddress(addresses, r.previousAddress);
      if (CHANGING.has(r.action) && (isProtected || wasProtected))
        return [atResource(r, `is protected, but the plan would ${r.action} it`)];
      if (wasProtected && !isProtected) return [atResource(r, 'is protected, but the plan would rename it')];
      const tag = Object.entries(tags).find(([name, value]) => mayHaveTag(r, name, value));
      if (tag !== undefined && r.action === 'update' && !keepsTag(r, ...tag))
        return [atResource(r, `is protected by its tag ${shown(tag[0])}, but the plan would remove the tag`)];
      if (!isDestroyed(r) && r.action !== 'forget') return [];
      if (coversAny(types, r.type))
        return [atResource(r, `contains data that cannot be recreated, and the plan would ${r.action} it`)];
      return tag === undefined ? [] : [atResource(r, `is protected by its tag ${shown(tag[0])}`)];
    }),
});

const CHANGING = new Set<TerraformAction>(['update', 'delete', 'replace', 'forget']);
const TAGS = ['tags', 'tags_all', 'labels'];

/** Whether the resource has the tag before the change; true if the plan hides it. */
function mayHaveTag(r: TerraformResource, name: string, value: string): boolean {
  return TAGS.some((key) => {
    const hidden = member(r.beforeSensitive, key);
    return hidden === true || member(hidden, name) === true || member(member(r.before, key), name) === value;
  });
}

function keepsTag(r: TerraformResource, name: string, value: string): boolean {
  return TAGS.some((key) => {
    const after = valueAt(r, [key, name]);
    return after.state === 'known' && after.value === value;
  });
}

export const deletionProtection = terraformRule({
  name: 'terraform_deletion_protection',
  logicRevision: 5,
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
      if (r.mode === 'data') return [];
      const protections = protectionsOf(r.before, r.beforeSensitive, []);
      if (isDestroyed(r))
        return protections.map((path) => atResource(r, `is destroyed, though its ${nameOf(path)} is on`));
      if (r.action !== 'update') return [];
      return [
        ...protections.flatMap((path) => protectionHits(r, path)),
        ...UNSAFE.flatMap((name) => unsafeHits(r, name)),
      ];
    }),
});

/** Members that prevent the deletion of a resource while they are on. */
const PROTECTION =
  /(?:^|_)(?:delet(?:e|ion)|terminat(?:e|ion)|drop|purge|destroy)_protection(?:_|$)|^disable_api_(?:termination|stop)$|^deletion_policy$/;
const ON = new Set(['true', 'active', 'enabled', 'prevent']);

/** Members that decide what happens to the data of a destroyed resource. They do not forbid its destruction. */
const UNSAFE = ['force_destroy', 'force_delete', 'skip_final_snapshot', 'delete_contents_on_destroy'];

const isOn = (value: JsonValue): boolean => ON.has(String(value).toLowerCase());
const nameOf = (path: Path): string => shown(path.join('.').slice(0, 200));

/** Paths of the protections that are on before the change, or that the plan hides. */
function protectionsOf(value: JsonValue, hidden: JsonValue, path: Path): readonly Path[] {
  if (typeof path.at(-1) === 'string' && PROTECTION.test(String(path.at(-1))))
    return containsTrue(hidden) || isOn(value) ? [path] : [];
  return stepsOf(value).flatMap((step) => protectionsOf(member(value, step), member(hidden, step), [...path, step]));
}

function protectionHits(r: TerraformResource, path: Path): readonly Hit[] {
  const after = valueAt(r, path);
  if (after.state === 'hidden') return [atResource(r, `the plan does not show its ${nameOf(path)}`)];
  if (after.state === 'known' && isOn(after.value)) return [];
  return [atResource(r, `its ${nameOf(path)} is no longer on`, after.state === 'known' ? path : [])];
}

function unsafeHits(r: TerraformResource, name: string): readonly Hit[] {
  const after = valueAt(r, [name]);
  if (after.state === 'absent' || isOn(member(r.before, name))) return [];
  if (after.state === 'hidden') return [atResource(r, `the plan does not show its ${name}`)];
  return isOn(after.value) ? [atResource(r, `its ${name} is switched on`, [name])] : [];
}

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
  logicRevision: 4,
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
