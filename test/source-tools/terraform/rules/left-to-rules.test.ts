import { planOf } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const statusOf = (rule: string, raw: string): string => runRule(rule, raw).status;
const PROTECTION = 'terraform_protection_off';
const LOGGING = 'terraform_logging_off';

/** Attributes that are listed with any value, because another rule reads them. */
describe('what the list leaves to another rule is found by that rule', () => {
  it.each([
    [PROTECTION, 'aws_db_instance.d', { backup_retention_period: 30 }, { backup_retention_period: 1 }],
    [PROTECTION, 'aws_kinesis_stream.k', { retention_period: 168 }, { retention_period: 24 }],
    [PROTECTION, 'aws_sqs_queue.q', { message_retention_seconds: 345600 }, { message_retention_seconds: 259200 }],
    [PROTECTION, 'aws_s3_bucket.b', { versioning: [{ enabled: true }] }, { versioning: [{ enabled: false }] }],
    [
      PROTECTION,
      'aws_ecr_repository.r',
      { image_scanning_configuration: [{ scan_on_push: true }] },
      { image_scanning_configuration: [{ scan_on_push: false }] },
    ],
    [PROTECTION, 'azurerm_key_vault.v', { soft_delete_retention_days: 90 }, { soft_delete_retention_days: 7 }],
    [PROTECTION, 'azurerm_postgresql_flexible_server.p', { backup_retention_days: 35 }, { backup_retention_days: 7 }],
    [
      PROTECTION,
      'azurerm_storage_account.s',
      { shared_access_key_enabled: false },
      { shared_access_key_enabled: true },
    ],
    [PROTECTION, 'google_kms_crypto_key.k', { rotation_period: '7776000s' }, { rotation_period: '' }],
    [
      PROTECTION,
      'azurerm_storage_account.s',
      { blob_properties: [{ delete_retention_policy: [{ days: 30 }], versioning_enabled: true }] },
      { blob_properties: [{ delete_retention_policy: [], versioning_enabled: true }] },
    ],
    [
      PROTECTION,
      'google_sql_database_instance.d',
      { settings: [{ backup_configuration: [{ enabled: true, start_time: '03:00' }] }] },
      { settings: [{ backup_configuration: [{ enabled: false, start_time: '03:00' }] }] },
    ],
    [LOGGING, 'aws_cloudwatch_log_group.g', { retention_in_days: 365 }, { retention_in_days: 190 }],
    [LOGGING, 'aws_cloudwatch_metric_alarm.a', { actions_enabled: true }, { actions_enabled: false }],
    [LOGGING, 'google_monitoring_alert_policy.a', { enabled: true }, { enabled: false }],
    [
      LOGGING,
      'google_monitoring_alert_policy.a',
      { notification_channels: ['a', 'b'] },
      { notification_channels: ['a'] },
    ],
    [
      LOGGING,
      'aws_db_instance.d',
      { enabled_cloudwatch_logs_exports: ['audit'] },
      { enabled_cloudwatch_logs_exports: [] },
    ],
    [
      'terraform_deletion_protection',
      'aws_db_instance.d',
      { deletion_protection: true },
      { deletion_protection: false },
    ],
    [
      'terraform_deletion_protection',
      'aws_lb.l',
      { enable_deletion_protection: true },
      { enable_deletion_protection: false },
    ],
    [
      'terraform_deletion_protection',
      'aws_instance.i',
      { disable_api_termination: true },
      { disable_api_termination: false },
    ],
    [
      'terraform_deletion_protection',
      'azurerm_key_vault.v',
      { purge_protection_enabled: true },
      { purge_protection_enabled: false },
    ],
    ['terraform_expiry', 'aws_dynamodb_table.t', { ttl: [] }, { ttl: [{ enabled: true, attribute_name: 'at' }] }],
    ['terraform_expiry', 'google_bigquery_table.t', { expiration_time: null }, { expiration_time: 1 }],
    [
      'terraform_public_access',
      'azurerm_storage_container.c',
      { container_access_type: 'private' },
      { container_access_type: 'blob' },
    ],
    [
      'terraform_public_access',
      'aws_s3_bucket_public_access_block.b',
      { block_public_policy: true },
      { block_public_policy: false },
    ],
  ])('%s: %s from %j to %j', (rule, address, before, after) => {
    const plan = planOf([{ address, actions: ['update'], before, after }]);
    expect({ list: statusOf('terraform_unlisted_change', plan), rule: statusOf(rule, plan) }).toEqual({
      list: 'ALLOW',
      rule: 'BLOCK',
    });
  });

  it.each([
    [PROTECTION, 'aws_ebs_volume.v', { encrypted: false }],
    [PROTECTION, 'aws_efs_file_system.f', { encrypted: false }],
    [PROTECTION, 'azurerm_storage_account.s', { https_traffic_only_enabled: false }],
    ['terraform_public_access', 'azurerm_storage_account.s', { allow_nested_items_to_be_public: true }],
  ])('%s: a new %s with %j', (rule, address, after) => {
    const plan = planOf([{ address, actions: ['create'], after }]);
    expect({ list: statusOf('terraform_unlisted_change', plan), rule: statusOf(rule, plan) }).toEqual({
      list: 'ALLOW',
      rule: 'BLOCK',
    });
  });
});
