import { planOf, type ExampleResource } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { fires, runRule } from '../../../policy/rules/support/run-pack-rule';

const unchanged = (address: string, value: object): ExampleResource => ({
  address,
  actions: ['no-op'],
  before: value,
  after: value,
});
/** Resources that the plan does not change show the account, the project and the regions. */
const STATE: readonly ExampleResource[] = [
  unchanged('aws_sns_topic.oncall', { arn: 'arn:aws:sns:eu-central-1:111122223333:oncall' }),
  unchanged('google_compute_disk.d', { project: 'shop', zone: 'europe-west1-b' }),
  unchanged('azurerm_resource_group.g', { location: 'westeurope' }),
];

const asks = (...resources: readonly ExampleResource[]): boolean =>
  fires('terraform_unlisted_change', planOf(resources));

const TCP = { ip_protocol: 'tcp', from_port: 5432, to_port: 5432, security_group_id: 'sg-1' };
const INLINE = { protocol: 'tcp', from_port: 5432, to_port: 5432 };
const topic = (account: string): string => `arn:aws:sns:eu-central-1:${account}:oncall`;
const deadLetters = (account: string, maxReceiveCount = 5, more: object = {}) => ({
  redrive_policy: JSON.stringify({
    deadLetterTargetArn: `arn:aws:sqs:eu-central-1:${account}:dead`,
    maxReceiveCount,
    ...more,
  }),
});
const OWN = '111122223333';
const OTHER = '999988887777';
const ALLOW_AZURE = {
  access: 'Allow',
  direction: 'Inbound',
  protocol: 'Tcp',
  priority: 200,
  destination_port_range: '5432',
  destination_address_prefix: '*',
  source_port_range: '*',
};
const allowGoogle = (allow: object, more: object = {}) => ({
  direction: 'INGRESS',
  priority: 1000,
  source_ranges: ['10.20.0.0/16'],
  allow: [allow],
  ...more,
});
const widgets = (...types: readonly string[]) => ({
  dashboard_body: JSON.stringify({ widgets: types.map((type) => ({ type, properties: {} })) }),
});
const TABLE = {
  hash_key: 'id',
  deletion_protection_enabled: true,
  point_in_time_recovery: [{ enabled: true }],
};
const service = (more: object) => ({ spec: [{ type: 'ClusterIP', port: [{ port: 80 }], ...more }] });
const subscription = (more: object) => ({ name: 's', project: 'shop', topic: 'projects/shop/topics/orders', ...more });

/** A new resource, whether it asks, and what it sets. */
it.each<readonly [string, 'asks' | 'passes', object]>([
  ['aws_cloudwatch_metric_alarm.a', 'passes', { alarm_actions: [topic(OWN)] }],
  ['aws_cloudwatch_metric_alarm.a', 'asks', { alarm_actions: [topic(OTHER)] }],
  ['aws_cloudwatch_metric_alarm.a', 'asks', { ok_actions: [topic(OWN), topic(OTHER)] }],
  ['aws_sqs_queue.q', 'passes', deadLetters(OWN)],
  ['aws_sqs_queue.q', 'asks', deadLetters(OTHER)],
  ['aws_sqs_queue.q', 'asks', deadLetters(OWN, 1)],
  ['aws_sqs_queue.q', 'asks', deadLetters(OWN, 5, { other: 1 })],
  ['aws_sqs_queue.q', 'asks', { redrive_policy: 'arn:aws:sqs:eu-central-1:111122223333:dead' }],
  ['aws_sqs_queue.q', 'passes', { kms_master_key_id: 'arn:aws:kms:eu-central-1:111122223333:key/k' }],
  ['aws_kms_alias.a', 'passes', { target_key_id: '0a1b2c3d-0000-4000-8000-000000000001' }],
  ['aws_kms_alias.a', 'asks', { target_key_id: 'arn:aws:kms:eu-central-1:999988887777:key/k' }],
  ['aws_s3_bucket.b', 'passes', { bucket: 'b', region: 'eu-central-1' }],
  ['aws_s3_bucket.b', 'asks', { bucket: 'b', region: 'ap-east-1' }],
  ['google_pubsub_topic.t', 'passes', { name: 't', project: 'shop' }],
  ['google_pubsub_topic.t', 'asks', { name: 't', project: 'other' }],
  ['google_compute_disk.e', 'passes', { name: 'e', zone: 'europe-west1-c' }],
  ['google_compute_disk.e', 'asks', { name: 'e', zone: 'europe-west2-b' }],
  ['google_compute_subnetwork.s', 'passes', { name: 's', region: 'europe-west1' }],
  ['google_storage_bucket.b', 'asks', { location: 'US', public_access_prevention: 'enforced' }],
  ['azurerm_user_assigned_identity.i', 'passes', { name: 'i', location: 'West Europe' }],
  ['azurerm_user_assigned_identity.i', 'asks', { name: 'i', location: 'eastus' }],
  ['aws_iam_role_policy_attachment.a', 'asks', { role: 'web', policy_arn: 'arn:aws:iam::aws:policy/ReadOnlyAccess' }],
  ['aws_iam_role_policy.p', 'asks', { role: 'web', policy: '{"Statement":[]}' }],
  ['aws_iam_instance_profile.p', 'asks', { role: 'OrganizationAdmin' }],
  ['aws_ec2_tag.t', 'asks', { resource_id: 'i-1', key: 'access', value: 'admin' }],
  ['azurerm_role_assignment.a', 'asks', { role_definition_name: 'Reader', scope: '/', principal_id: 'p' }],
  ['aws_route53_record.r', 'asks', { name: 'db.internal', type: 'CNAME', records: ['db.example.com'], zone_id: 'z' }],
  ['aws_vpc_security_group_ingress_rule.r', 'passes', { ...TCP, cidr_ipv4: '10.20.0.0/16' }],
  ['aws_vpc_security_group_ingress_rule.r', 'passes', { ...TCP, cidr_ipv6: 'fd00::/16' }],
  ['aws_vpc_security_group_ingress_rule.r', 'passes', { ...TCP, referenced_security_group_id: 'sg-2' }],
  ['aws_vpc_security_group_ingress_rule.r', 'asks', { ...TCP, cidr_ipv4: '203.0.113.66/32' }],
  ['aws_vpc_security_group_ingress_rule.r', 'asks', { ...TCP, cidr_ipv4: '10.0.0.0/7' }],
  ['aws_vpc_security_group_ingress_rule.r', 'asks', { ...TCP, ip_protocol: '-1', cidr_ipv4: '10.0.0.0/8' }],
  ['aws_vpc_security_group_ingress_rule.r', 'asks', { ...TCP, from_port: 1, cidr_ipv4: '10.0.0.0/8' }],
  ['aws_vpc_security_group_ingress_rule.r', 'asks', { ...TCP, referenced_security_group_id: `${OTHER}/sg-2` }],
  ['aws_vpc_security_group_egress_rule.r', 'asks', { ip_protocol: '-1', cidr_ipv4: '0.0.0.0/0' }],
  ['aws_security_group.g', 'asks', { ingress: [{ ...INLINE, security_groups: [`${OTHER}/sg-1`] }] }],
  ['aws_security_group.g', 'asks', { egress: [{ protocol: '-1', from_port: 0, to_port: 0, self: true }] }],
  ['azurerm_network_security_rule.r', 'passes', { ...ALLOW_AZURE, source_address_prefix: '10.0.0.0/16' }],
  ['azurerm_network_security_rule.r', 'asks', { ...ALLOW_AZURE, source_address_prefix: '203.0.113.66' }],
  ['azurerm_network_security_rule.r', 'asks', { ...ALLOW_AZURE, destination_port_range: '*' }],
  ['google_compute_firewall.f', 'passes', allowGoogle({ protocol: 'tcp', ports: ['5432'] })],
  ['google_compute_firewall.f', 'asks', allowGoogle({ protocol: 'tcp', ports: [] })],
  ['google_compute_firewall.f', 'asks', allowGoogle({ protocol: 'all' })],
  ['google_compute_firewall.f', 'asks', allowGoogle({ protocol: 'tcp', ports: ['1'] }, { source_ranges: ['9.9.9.9'] })],
  ['aws_cloudwatch_dashboard.d', 'passes', widgets('metric', 'text')],
  ['aws_cloudwatch_dashboard.d', 'asks', widgets('metric', 'custom')],
  ['aws_cloudwatch_dashboard.d', 'asks', { dashboard_body: '{' }],
  ['google_pubsub_subscription.s', 'passes', subscription({})],
  ['google_pubsub_subscription.s', 'asks', subscription({ project: 'collector' })],
  ['google_pubsub_subscription.s', 'asks', subscription({ dead_letter_policy: [{ dead_letter_topic: 't' }] })],
  ['kubernetes_service.s', 'asks', service({ selector: { app: 'sniffer' } })],
  ['kubernetes_resource_quota_v1.q', 'asks', { spec: [{ hard: { pods: '0' } }] }],
  ['aws_sns_topic.t', 'passes', { name: 't', kms_master_key_id: 'alias/aws/sns' }],
  ['aws_sns_topic.t', 'asks', { name: 't' }],
  ['aws_dynamodb_table.t', 'passes', TABLE],
  ['aws_dynamodb_table.t', 'asks', { ...TABLE, point_in_time_recovery: [] }],
  ['aws_dynamodb_table.t', 'asks', { ...TABLE, deletion_protection_enabled: false }],
  ['aws_cloudwatch_log_group.g', 'asks', { name: 'g', retention_in_days: 1 }],
  ['aws_autoscaling_schedule.s', 'asks', { recurrence: '* * * * *', desired_capacity: 1 }],
  ['aws_autoscaling_policy.p', 'asks', { policy_type: 'SimpleScaling', scaling_adjustment: -100 }],
  ['time_sleep.s', 'passes', { create_duration: '30s' }],
  ['time_sleep.s', 'asks', { create_duration: '8760h' }],
])('a new %s %s with %j', (address, verdict, after) => {
  expect(asks(...STATE, { address, actions: ['create'], after }) ? 'asks' : 'passes').toBe(verdict);
});

it('a protection that a new resource does not set is named, and may be added to the list', () => {
  const plan = planOf([{ address: 'aws_sns_topic.t', actions: ['create'], after: { name: 't', policy: '{}' } }]);
  const run = (config: object) => runRule('terraform_unlisted_change', plan, { config });
  expect(run({}).reason).toMatch(/"aws_sns_topic\.t": does not set "kms_master_key_id"/);
  expect(run({}).reason).toMatch(/changes "policy"/);
  const attributes = ['aws_sns_topic.kms_master_key_id', 'aws_sns_topic.policy'];
  expect(run({ attributes }).status).toBe('ALLOW');
});

it('the account is that of resources that exist, not of imported ones', () => {
  const after = { alarm_actions: [topic(OWN)] };
  const alarm = { address: 'aws_cloudwatch_metric_alarm.a', actions: ['create'], after };
  const isAllowed = (plan: string) => runRule('terraform_unlisted_change', plan).status === 'ALLOW';
  const plan = planOf([...STATE, alarm]);
  expect(isAllowed(plan)).toBe(true);
  expect(isAllowed(plan.replace('"actions": [', '"importing": {}, "actions": ['))).toBe(false);
  expect(isAllowed(planOf([alarm]))).toBe(false);
});

const podsOf = (image: string) => ({ spec: [{ template: [{ spec: [{ container: [{ image }] }] }] }] });
const DIGEST = `r.internal/a@sha256:${'0'.repeat(64)}`;
const health = (more: object) => ({
  health_check: [{ enabled: true, interval: 30, path: '/health', matcher: '200', ...more }],
});

/** An update, whether it asks, and what it changes. */
it.each<readonly [string, 'asks' | 'passes', object, object]>([
  ['kubernetes_deployment.d', 'passes', podsOf('r.internal/a:1.2'), podsOf('r.internal/a:v1.3-rc1')],
  ['kubernetes_deployment.d', 'passes', podsOf('r.internal/a:1.2'), podsOf(DIGEST)],
  ['kubernetes_deployment.d', 'asks', podsOf('r.internal/a:1.2'), podsOf('r.internal/a:latest')],
  ['kubernetes_deployment.d', 'asks', podsOf('r.internal/a:1.2'), podsOf('r.internal/a')],
  ['kubernetes_deployment.d', 'asks', podsOf(DIGEST), podsOf('r.internal/a:1.3')],
  ['kubernetes_cron_job_v1.c', 'asks', { spec: [{ schedule: '0 3 * * *' }] }, { spec: [{ schedule: '0 0 31 2 *' }] }],
  ['kubernetes_service_v1.s', 'asks', { metadata: [{ labels: {} }] }, { metadata: [{ labels: { expose: 'true' } }] }],
  ['aws_ecs_service.s', 'passes', { desired_count: 80 }, { desired_count: 40 }],
  ['aws_ecs_service.s', 'asks', { desired_count: 80 }, { desired_count: 39 }],
  ['aws_ecs_service.s', 'asks', { force_new_deployment: false }, { force_new_deployment: true }],
  ['aws_lambda_function.f', 'asks', { reserved_concurrent_executions: -1 }, { reserved_concurrent_executions: 1 }],
  ['aws_lambda_function.f', 'asks', { reserved_concurrent_executions: 100 }, { reserved_concurrent_executions: -1 }],
  ['aws_lambda_function.f', 'passes', { reserved_concurrent_executions: 90 }, { reserved_concurrent_executions: 100 }],
  ['aws_ecs_service.s', 'asks', { health_check_grace_period_seconds: 60 }, { health_check_grace_period_seconds: 9e6 }],
  ['aws_ecs_service.s', 'passes', { health_check_grace_period_seconds: 60 }, { health_check_grace_period_seconds: 90 }],
  ['aws_lambda_function.f', 'asks', { memory_size: 256 }, { memory_size: 10240 }],
  ['aws_instance.i', 'asks', { instance_type: 't4g.small' }, { instance_type: 'p5.48xlarge' }],
  ['aws_instance.i', 'asks', { instance_type: 't3.small' }, { instance_type: 't4g.small' }],
  ['aws_db_instance.d', 'passes', { instance_class: 'db.t4g.medium' }, { instance_class: 'db.t4g.large' }],
  ['aws_db_instance.d', 'asks', { instance_class: 'db.r6g.2xlarge' }, { instance_class: 'db.r6g.large' }],
  ['aws_db_instance.d', 'asks', { allocated_storage: 100 }, { allocated_storage: 60000 }],
  ['azurerm_linux_virtual_machine.m', 'asks', { size: 'Standard_B2s' }, { size: 'Standard_ND96isr_H100_v5' }],
  ['google_compute_instance.i', 'asks', { machine_type: 'e2-small' }, { machine_type: 'a3-ultragpu-8g' }],
  ['google_bigquery_table.t', 'asks', { schema: '[{"name":"a"}]' }, { schema: '[{"name":"b"}]' }],
  ['aws_lb_target_group.t', 'passes', health({}), health({ path: '/ready', interval: 15 })],
  ['aws_lb_target_group.t', 'asks', health({}), health({ matcher: '200-499' })],
  ['aws_lb_target_group.t', 'asks', health({}), health({ enabled: false })],
  ['aws_sqs_queue.q', 'asks', { delay_seconds: 0 }, { delay_seconds: 900 }],
  ['aws_cloudwatch_composite_alarm.a', 'asks', { actions_enabled: true }, { actions_enabled: false }],
  ['aws_instance.i', 'passes', { tags: { Team: 'shop' } }, { tags: { Team: 'shop', 'cost-centre': '4711' } }],
  ['aws_instance.i', 'asks', { tags: { Team: 'shop' } }, { tags: { Team: 'shop', Role: 'admin' } }],
  ['aws_ebs_volume.v', 'asks', { tags: { Backup: 'daily' } }, { tags: {} }],
])('an update of %s %s from %j to %j', (address, verdict, before, after) => {
  expect(asks(...STATE, { address, actions: ['update'], before, after }) ? 'asks' : 'passes').toBe(verdict);
});
