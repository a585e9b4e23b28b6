import { EVERYONE } from './public-words';
import type { Path } from './values';

/** A setting that makes a resource public. */
export interface PublicSetting {
  readonly types: readonly string[];
  /** Path of the setting; `*` matches every item of a list. */
  readonly path: Path;
  /** The values that make the resource public, or address ranges that do so if they cover the internet together. */
  readonly values: readonly (string | boolean)[] | RegExp | 'internet';
  readonly what: string;
  /** Whether the resource is private if the configuration does not set it. The defaults of most settings are not all safe. */
  readonly safeByDefault?: boolean;
  /** A setting without which this one has no effect. */
  readonly onlyWith?: Path;
}

const PUBLIC: readonly PublicSetting[] = [
  {
    types: ['aws_s3_bucket', 'aws_s3_bucket_acl', 'aws_s3_object', 'aws_s3_bucket_object', 'aws_s3_object_copy'],
    path: ['acl'],
    values: ['public-read', 'public-read-write', 'authenticated-read', 'website'],
    what: 'its objects are public',
    safeByDefault: true,
  },
  {
    types: ['aws_s3_bucket', 'aws_s3_object_copy'],
    path: ['grant', '*', 'uri'],
    values: EVERYONE,
    what: 'its objects are public',
    safeByDefault: true,
  },
  {
    types: ['aws_s3_bucket_acl'],
    path: ['access_control_policy', 0, 'grant', '*', 'grantee', 0, 'uri'],
    values: EVERYONE,
    what: 'its objects are public',
    safeByDefault: true,
  },
  {
    types: ['google_storage_bucket_acl', 'google_storage_default_object_acl', 'google_storage_object_acl'],
    path: ['role_entity'],
    values: EVERYONE,
    what: 'its objects are public',
    safeByDefault: true,
  },
  {
    types: [
      'google_storage_bucket_access_control',
      'google_storage_default_object_access_control',
      'google_storage_object_access_control',
    ],
    path: ['entity'],
    values: EVERYONE,
    what: 'its objects are public',
  },
  ...['special_group', 'iam_member'].flatMap((name): readonly PublicSetting[] => [
    {
      types: ['google_bigquery_dataset'],
      path: ['access', '*', name],
      values: EVERYONE,
      what: 'its tables are public',
      safeByDefault: true,
    },
    {
      types: ['google_bigquery_dataset_access'],
      path: [name],
      values: EVERYONE,
      what: 'its tables are public',
      safeByDefault: true,
    },
  ]),
  {
    types: ['aws_eks_cluster'],
    path: ['vpc_config', 0, 'public_access_cidrs'],
    values: 'internet',
    what: 'its API is reachable from the internet',
    onlyWith: ['vpc_config', 0, 'endpoint_public_access'],
  },
  {
    types: ['google_sql_database_instance'],
    path: ['settings', 0, 'ip_configuration', 0, 'authorized_networks', '*', 'value'],
    values: 'internet',
    what: 'it is reachable from the internet',
  },
  {
    types: ['google_container_cluster'],
    path: ['master_authorized_networks_config', 0, 'cidr_blocks', '*', 'cidr_block'],
    values: 'internet',
    what: 'its API is reachable from the internet',
  },
  {
    types: ['azurerm_kubernetes_cluster'],
    path: ['api_server_access_profile', 0, 'authorized_ip_ranges'],
    values: 'internet',
    what: 'its API is reachable from the internet',
  },
  {
    types: ['google_cloud_run_v2_service'],
    path: ['invoker_iam_disabled'],
    values: [true],
    what: 'anyone may call it',
    safeByDefault: true,
  },
  {
    types: ['aws_lambda_permission', 'aws_lambda_layer_version_permission'],
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
  {
    types: ['github_repository'],
    path: ['private'],
    values: [false],
    what: 'its source is public',
    safeByDefault: true,
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
    types: ['cloudflare_access_policy', 'cloudflare_zero_trust_access_policy'],
    path: ['decision'],
    values: ['bypass'],
    what: 'anyone may pass without a login',
  },
  {
    types: ['aws_ebs_snapshot_block_public_access', 'aws_ec2_image_block_public_access'],
    path: ['state'],
    values: ['unblocked'],
    what: 'public access is not blocked',
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
      'aws_neptune_cluster_instance',
      'aws_redshift_cluster',
      'aws_redshiftserverless_workgroup',
      'aws_lightsail_database',
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
  ...['allow_blob_public_access', 'allow_nested_items_to_be_public'].map((name) => ({
    types: ['azurerm_storage_account'],
    path: [name],
    values: [true],
    what: 'its containers may be public',
  })),
  {
    types: ['azurerm_storage_container'],
    path: ['container_access_type'],
    values: ['blob', 'container'],
    what: 'its objects are public',
  },
  {
    types: ['azurerm_storage_account_network_rules'],
    path: ['default_action'],
    values: ['Allow'],
    what: 'it is reachable from the internet',
  },
  {
    types: ['azurerm_key_vault'],
    path: ['network_acls', 0, 'default_action'],
    values: ['Allow'],
    what: 'it is reachable from the internet',
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

/** The settings of each type. */
export const PUBLIC_BY_TYPE: ReadonlyMap<string, readonly PublicSetting[]> = new Map(
  [...new Set(PUBLIC.flatMap(({ types }) => types))].map((type) => [
    type,
    PUBLIC.filter(({ types }) => types.includes(type)),
  ]),
);

/** Types whose address ranges `terraform_public_access` reads. */
export const INTERNET_TYPES: ReadonlySet<string> = new Set(
  PUBLIC.flatMap(({ types, values }) => (values === 'internet' ? types : [])),
);
