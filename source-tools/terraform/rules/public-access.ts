import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { Hit } from '../../../policy/rules/rule-maker';
import { atResource, planOf, terraformRule, undecided } from './define-terraform-rule';
import type { TerraformResource } from '../facts/terraform-facts';
import { isUnchanged, createdOrChanged, valueAt, type Path } from './values';

/** Values that make a resource public, by type. */
const PUBLIC: readonly {
  readonly types: readonly string[];
  readonly path: Path;
  readonly values: readonly JsonValue[];
  readonly what: string;
}[] = [
  {
    types: ['aws_s3_bucket', 'aws_s3_bucket_acl'],
    path: ['acl'],
    values: ['public-read', 'public-read-write', 'authenticated-read', 'website'],
    what: 'its objects are public',
  },
  {
    types: ['aws_eks_cluster'],
    path: ['vpc_config', 0, 'public_access_cidrs'],
    values: ['0.0.0.0/0'],
    what: 'its API is reachable from the internet',
  },
  {
    types: ['google_sql_database_instance'],
    path: ['settings', 0, 'ip_configuration', 0, 'authorized_networks', '*', 'value'],
    values: ['0.0.0.0/0', '::/0'],
    what: 'it is reachable from the internet',
  },
  {
    types: ['google_container_cluster'],
    path: ['master_authorized_networks_config', 0, 'cidr_blocks', '*', 'cidr_block'],
    values: ['0.0.0.0/0'],
    what: 'its API is reachable from the internet',
  },
  {
    types: ['aws_lambda_permission'],
    path: ['principal'],
    values: ['*'],
    what: 'anyone may call it',
  },
  {
    types: ['github_repository', 'gitlab_project'],
    path: ['visibility'],
    values: ['public', 'internal'],
    what: 'its source is public',
  },
  {
    types: ['gitlab_project'],
    path: ['visibility_level'],
    values: ['public', 'internal'],
    what: 'its source is public',
  },
  { types: ['bitbucket_repository'], path: ['is_private'], values: [false], what: 'its source is public' },
  {
    types: ['aws_snapshot_create_volume_permission'],
    path: ['account_id'],
    values: ['all'],
    what: 'its snapshot is public',
  },
  {
    types: ['aws_ami_launch_permission'],
    path: ['group'],
    values: ['all'],
    what: 'its image is public',
  },
  {
    types: ['aws_db_snapshot', 'aws_db_cluster_snapshot', 'aws_db_snapshot_copy'],
    path: ['shared_accounts'],
    values: ['all'],
    what: 'its snapshot is public',
  },
  {
    types: [
      'azurerm_mssql_firewall_rule',
      'azurerm_postgresql_firewall_rule',
      'azurerm_mysql_firewall_rule',
      'azurerm_sql_firewall_rule',
    ],
    path: ['end_ip_address'],
    values: ['255.255.255.255', '0.0.0.0'],
    what: 'it is open to every address of the internet or of the cloud',
  },
  ...['block_public_acls', 'block_public_policy', 'ignore_public_acls', 'restrict_public_buckets'].map((name) => ({
    types: ['aws_s3_bucket_public_access_block', 'aws_s3_account_public_access_block'],
    path: [name],
    values: [false],
    what: 'public access is not blocked',
  })),
  {
    types: [
      'aws_db_instance',
      'aws_rds_cluster_instance',
      'aws_redshift_cluster',
      'aws_dms_replication_instance',
      'aws_mq_broker',
    ],
    path: ['publicly_accessible'],
    values: [true],
    what: 'it is reachable from the internet',
  },
  { types: ['aws_lambda_function_url'], path: ['authorization_type'], values: ['NONE'], what: 'anyone may call it' },
  {
    types: ['google_storage_bucket_acl', 'google_storage_default_object_acl'],
    path: ['predefined_acl'],
    values: ['publicRead', 'publicReadWrite', 'authenticatedRead'],
    what: 'its objects are public',
  },
  {
    types: ['azurerm_storage_account'],
    path: ['allow_blob_public_access'],
    values: [true],
    what: 'its containers may be public',
  },
  {
    types: ['azurerm_storage_account'],
    path: ['allow_nested_items_to_be_public'],
    values: [true],
    what: 'its containers may be public',
  },
  {
    types: ['azurerm_storage_container'],
    path: ['container_access_type'],
    values: ['blob', 'container'],
    what: 'its objects are public',
  },
  {
    types: [
      'azurerm_mssql_server',
      'azurerm_postgresql_server',
      'azurerm_mysql_server',
      'azurerm_cosmosdb_account',
      'azurerm_key_vault',
    ],
    path: ['public_network_access_enabled'],
    values: [true],
    what: 'it is reachable from the internet',
  },
];

const PUBLIC_BY_TYPE: ReadonlyMap<string, typeof PUBLIC> = new Map(
  [...new Set(PUBLIC.flatMap(({ types }) => types))].map((type) => [
    type,
    PUBLIC.filter(({ types }) => types.includes(type)),
  ]),
);

export const publicAccess = terraformRule({
  name: 'terraform_public_access',
  logicRevision: 5,
  defaultLevel: 'confirm',
  why: 'Attackers scan the internet for public buckets and databases.',
  examples: {
    bad: planOf([{ address: 'aws_s3_bucket.logs', actions: ['create'], after: { acl: 'public-read' } }]),
    good: planOf([{ address: 'aws_s3_bucket.logs', actions: ['create'], after: { acl: 'private' } }]),
  },
  find: ({ resources }) =>
    createdOrChanged(resources).flatMap((r) =>
      (PUBLIC_BY_TYPE.get(r.type) ?? []).flatMap(({ path: pattern, values, what }): readonly Hit[] =>
        itemPaths(r, pattern).flatMap((path): readonly Hit[] => {
          const value = valueAt(r, path);
          // A bucket without an ACL is private by default. The defaults of other settings are not all safe.
          if (path[0] === 'acl' && r.leftToProvider.includes('acl')) return [];
          if (value.state === 'hidden') return [atResource(r, undecided(String(path[0]), value.why))];
          if (value.state === 'absent' || isUnchanged(r, path)) return [];
          const items = Array.isArray(value.value) ? (value.value as readonly JsonValue[]) : [value.value];
          return items.some((item) => values.includes(item)) ? [atResource(r, what, path)] : [];
        }),
      ),
    ),
});

/** The paths that a pattern names in this resource; `*` expands to every existing item. */
function itemPaths(r: TerraformResource, pattern: Path): readonly Path[] {
  return pattern.reduce<readonly Path[]>(
    (paths, step) =>
      paths.flatMap((path): readonly Path[] => {
        if (step !== '*') return [[...path, step]];
        const value = valueAt(r, path);
        return value.state === 'known' && Array.isArray(value.value) ? value.value.map((_, i) => [...path, i]) : [];
      }),
    [[]],
  );
}
