import { packDefinitions } from '../../../../source-tools';
import { planOf, type ExampleResource } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const RULE = 'terraform_unlisted_change';

function run(resource: ExampleResource, config: object = {}, more: Readonly<Record<string, unknown>> = {}) {
  return runRule(packDefinitions, RULE, planOf([resource], more), { config });
}

const isAsked = (resource: ExampleResource, config: object = {}): boolean => run(resource, config).status !== 'ALLOW';

const create = (address: string, after: object, more: object = {}): ExampleResource => ({
  address,
  actions: ['create'],
  after,
  ...more,
});
const update = (address: string, before: object, after: object, more: object = {}): ExampleResource => ({
  address,
  actions: ['update'],
  before,
  after,
  ...more,
});

const PORT = { protocol: 'tcp', from_port: 80, to_port: 80 };
const QUEUE = { name: 'mail', visibility_timeout_seconds: 60 };
const podsOf = (image: string, more: object = {}, container: object = {}) => ({
  spec: [{ replicas: '3', template: [{ spec: [{ container: [{ name: 'web', image, ...container }], ...more }] }] }],
});
const WEB = podsOf('registry.internal/web:4.1.3');

describe('the provider', () => {
  it.each(['registry.terraform.io/hashicorp/aws', 'registry.opentofu.org/hashicorp/aws'])(
    'is listed by its public address: %s',
    (provider_name) => {
      expect(isAsked(create('aws_sqs_queue.q', QUEUE, { provider_name }))).toBe(false);
    },
  );

  it.each([
    'aws',
    '',
    'registry.terraform.io/-/aws',
    'registry.terraform.io/elsewhere/aws',
    'registry.example.com/hashicorp/aws',
    'registry.terraform.io/hashicorp/aws2',
    'REGISTRY.terraform.io/hashicorp/aws',
    'registry.terraform.io/hashicorp/random',
  ])('asks if it has another name, or does not have this type: %j', (provider_name) => {
    expect(isAsked(create('aws_sqs_queue.q', QUEUE, { provider_name }))).toBe(true);
  });

  it('asks once for each one of the configuration, also if it changes nothing', () => {
    const provider_config = {
      aws: { name: 'aws', full_name: 'registry.terraform.io/hashicorp/aws' },
      dd: { name: 'datadog', full_name: 'registry.terraform.io/datadog/datadog' },
      'dd.eu': { name: 'datadog', full_name: 'registry.terraform.io/datadog/datadog', alias: 'eu' },
      old: { name: 'azurerm' },
    };
    const found = run(create('aws_sqs_queue.q', QUEUE), {}, { configuration: { provider_config } });
    expect(found.status).toBe('BLOCK');
    expect(found.reason).toMatch(/datadog\/datadog" is not on the list/);
    expect(found.evidenceRefs).toHaveLength(2);
    const providers = ['registry.terraform.io/datadog/*', 'azurerm'];
    expect(run(create('aws_sqs_queue.q', QUEUE), { providers }, { configuration: { provider_config } }).status).toBe(
      'ALLOW',
    );
  });
});

describe('the type', () => {
  it.each([
    ['aws_s3_bucket_replication_configuration.r', { bucket: 'a', rule: [{ status: 'Enabled' }] }],
    ['aws_lambda_permission.p', { principal: '999900001111' }],
    ['aws_route.r', { destination_cidr_block: '10.0.0.0/8' }],
    ['local_file.f', { filename: '/root/.bashrc', content: 'x' }],
    ['kubernetes_pod.p', { spec: [{ host_pid: true }] }],
    ['google_storage_bucket_iam_member.m', { role: 'roles/storage.objectViewer', member: 'user:m@example.com' }],
    ['constructor.c', {}],
  ])('asks if it is not listed: %s', (address, after) => {
    expect(isAsked(create(address, after))).toBe(true);
    expect(isAsked(create(address, after), { types: [address.split('.')[0]] })).toBe(address.startsWith('constructor'));
  });

  it('does not ask about what has rules of its own: destroying, forgetting, reading, moving', () => {
    for (const actions of [['delete'], ['forget'], ['no-op']]) {
      const after = actions[0] === 'no-op' ? { a: 1 } : null;
      expect(isAsked({ address: 'aws_thing.t', actions, before: { a: 1 }, after })).toBe(false);
    }
  });

  it('is named with what to do', () => {
    const found = run(create('aws_thing.t', { a: 1 }));
    expect(found.reason).toMatch(/"aws_thing\.t": its type "aws_thing" is not on the list of this rule/);
    expect(JSON.stringify(found)).toMatch(/add the provider, the type, the attribute or the argument/);
  });
});

describe('the attributes', () => {
  it.each([
    ['aws_sqs_queue.q', { ...QUEUE, kms_master_key_id: 'alias/mail' }],
    ['aws_security_group.g', { name: 'g', ingress: [{ ...PORT, cidr_blocks: ['10.0.0.0/8'] }], egress: [] }],
    ['random_password.p', { length: 24, special: true }],
    ['null_resource.n', { triggers: { a: 'b' } }],
    ['aws_s3_bucket.b', { bucket: 'b', force_destroy: false, website: null, cors_rule: [], policy: '' }],
    ['aws_cloudwatch_metric_alarm.a', { threshold: 1, period: 60 }],
    ['kubernetes_service.s', { metadata: [{ name: 's' }], spec: [{ type: 'ClusterIP', port: [{ port: 80 }] }] }],
  ])('of a new resource pass if all are listed: %s', (address, after) => {
    expect(isAsked(create(address, after))).toBe(false);
  });

  it.each([
    ['aws_sqs_queue.q', { ...QUEUE, kms_master_key_id: 'arn:aws:kms:eu-west-1:999900001111:key/k' }],
    ['aws_sqs_queue.q', { ...QUEUE, policy: '{}' }],
    ['aws_security_group.g', { ingress: [{ ...PORT, prefix_list_ids: ['pl-1'] }] }],
    ['aws_instance.i', { ami: 'ami-1', instance_type: 't3.small' }],
    ['random_password.p', { length: 4 }],
    ['aws_s3_bucket.b', { bucket: 'b', force_destroy: true }],
    ['aws_s3_bucket.b', { bucket: 'b', replication_configuration: [{ role: 'r' }] }],
    ['aws_cloudwatch_metric_alarm.a', { alarm_actions: ['arn:aws:sns:a', 'arn:aws:automate:eu-west-1:ec2:terminate'] }],
    ['aws_cloudwatch_metric_alarm.a', { alarm_actions: ['arn:aws:sns:a', null] }],
    ['kubernetes_deployment.d', WEB],
    ['kubernetes_service.s', { spec: [{ type: 'LoadBalancer' }] }],
    ['kubernetes_namespace.n', { metadata: [{ labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } }] }],
    ['kubernetes_namespace.n', { metadata: [{ 'name.x': 'y' }] }],
    ['kubernetes_namespace.n', { 'metadata.name': 'y' }],
  ])('of a new resource ask if one is not listed, or has another value: %s with %j', (address, after) => {
    expect(isAsked(create(address, after))).toBe(true);
  });

  it.each([
    ['aws_instance.i', { instance_type: 't3.small', ami: 'ami-1' }, { instance_type: 't3.large', ami: 'ami-1' }],
    ['aws_autoscaling_group.g', { max_size: 4, vpc: 1 }, { max_size: 5, vpc: 1 }],
    ['aws_cloudwatch_metric_alarm.a', { threshold: 1, alarm_name: 'a' }, { threshold: 1, alarm_name: 'b' }],
    ['kubernetes_deployment.d', WEB, podsOf('registry.internal/web:4.2.0')],
    ['kubernetes_deployment.d', WEB, podsOf('registry.internal/web@sha256:00')],
    [
      'aws_security_group.g',
      { ingress: [{ ...PORT, cidr_blocks: ['10.0.0.0/8'] }] },
      {
        ingress: [
          { protocol: 'tcp', from_port: 443, to_port: 443, self: true },
          { ...PORT, cidr_blocks: ['10.0.0.0/8'] },
        ],
      },
    ],
  ])('that an update changes pass if all are listed: %s', (address, before, after) => {
    expect(isAsked(update(address, before, after))).toBe(false);
  });

  it.each([
    ['aws_instance.i', { ami: 'ami-1' }, { ami: 'ami-2' }],
    ['aws_instance.i', { vpc_security_group_ids: ['a'] }, {}],
    ['aws_autoscaling_group.g', { max_size: 4 }, { max_size: 0 }],
    ['aws_autoscaling_group.g', { max_size: 4 }, { max_size: 4000 }],
    ['aws_cloudwatch_metric_alarm.a', { threshold: 1 }, { threshold: 1e9 }],
    ['aws_security_group.g', { ingress: [{ to_port: 80 }] }, { ingress: [] }],
    ['aws_security_group.g', { ingress: [{ to_port: 80 }, { to_port: 81 }] }, { ingress: [{ to_port: 80 }] }],
    ['aws_security_group.g', { ingress: [{ to_port: 80 }] }, { ingress: [{ to_port: 81 }, { to_port: 82 }] }],
    ['kubernetes_deployment.d', WEB, podsOf('elsewhere.example.com/web:4.2.0')],
    ['kubernetes_deployment.d', podsOf('localhost:5000/web'), podsOf('localhost:6000/web')],
    ['kubernetes_deployment.d', WEB, podsOf('registry.internal/web:4.2.0', { host_network: true })],
    [
      'kubernetes_deployment.d',
      WEB,
      podsOf('registry.internal/web:4.2.0', {}, { security_context: [{ privileged: true }] }),
    ],
    [
      'kubernetes_deployment.d',
      WEB,
      podsOf('registry.internal/web:4.1.3', { container: [{ image: 'registry.internal/web:4.1.3' }, { image: 'x' }] }),
    ],
  ])('that an update changes ask if one is not listed: %s from %j to %j', (address, before, after) => {
    expect(isAsked(update(address, before, after))).toBe(true);
  });

  it('asks if a value is not known before apply, unless the attribute may have any value', () => {
    const unknown = (after_unknown: object) =>
      isAsked(update('aws_instance.i', { ami: 'a', instance_type: 't3.small' }, {}, { after_unknown }));
    expect(unknown({ ami: true, instance_type: true })).toBe(true);
    expect(isAsked(create('aws_ebs_volume.v', {}, { after_unknown: { availability_zone: true } }))).toBe(false);
    expect(isAsked(create('aws_ebs_volume.v', {}, { after_unknown: { size: true } }))).toBe(true);
    expect(isAsked(create('aws_ebs_volume.v', {}, { after_unknown: { tags: { a: true } } }))).toBe(false);
  });

  it('asks if an item of a set is not known, and so is left out', () => {
    const [one, two] = [PORT, { ...PORT, from_port: 443, to_port: 443 }];
    const grown = (ingress: readonly unknown[]) =>
      update('aws_security_group.g', { ingress: [one] }, { ingress: [one, two] }, { after_unknown: { ingress } });
    expect(isAsked(grown([{}, {}]))).toBe(false);
    expect(isAsked(grown([{}, {}, true]))).toBe(true);
  });

  it('asks about a sensitive value only if the change sets it', () => {
    const masks = { before_sensitive: { password: true }, after_sensitive: { password: true } };
    const before = { instance_class: 'db.t3.small', password: 'x' };
    const database = (password: string) =>
      isAsked(update('aws_db_instance.d', before, { instance_class: 'db.t3.medium', password }, masks));
    expect(database('x')).toBe(false);
    expect(database('y')).toBe(true);
    expect(isAsked(create('aws_db_instance.d', { password: 'x' }, { after_sensitive: { password: true } }))).toBe(true);
  });

  it('asks if the plan shows none of them', () => {
    expect(isAsked(create('aws_sqs_queue.q', {}, { after_unknown: true }))).toBe(true);
    expect(isAsked({ address: 'aws_sqs_queue.q', actions: ['create'], after: null })).toBe(true);
    expect(isAsked(create('aws_sqs_queue.q', QUEUE, { after_sensitive: true }))).toBe(true);
    expect(isAsked(update('aws_sqs_queue.q', QUEUE, { ...QUEUE, name: 'a' }, { before_sensitive: true }))).toBe(true);
  });

  it('compares sensitive values within a block', () => {
    const withValue = (value: string) => podsOf('r/web:1', {}, { env: [{ name: 'A', value }] });
    const mask = podsOf('', {}, { env: [{ value: true }] });
    const masks = { before_sensitive: mask, after_sensitive: mask };
    const after = JSON.parse(JSON.stringify(withValue('x')).replace('web:1', 'web:2')) as object;
    expect(isAsked(update('kubernetes_deployment.d', withValue('x'), after, masks))).toBe(false);
    expect(isAsked(update('kubernetes_deployment.d', withValue('y'), after, masks))).toBe(true);
  });

  it('ignores what the provider computes, if the configuration shows that it is not set', () => {
    const bucket = create(
      'aws_s3_bucket.b',
      { bucket: 'b' },
      { after_unknown: { website: true, hosted_zone_id: true } },
    );
    const configured = (expressions: object) => ({
      configuration: { root_module: { resources: [{ address: 'aws_s3_bucket.b', mode: 'managed', expressions }] } },
    });
    expect(run(bucket, {}, configured({ bucket: {} })).status).toBe('ALLOW');
    expect(run(bucket, {}, configured({ bucket: {}, website: [{}] })).status).toBe('BLOCK');
    expect(run(bucket).status).toBe('BLOCK');
  });

  it('may be added by the name of the attribute, or of one that contains it', () => {
    const change = update('aws_lambda_function.f', { environment: [] }, { environment: [{ variables: { A: 'b' } }] });
    expect(isAsked(change)).toBe(true);
    expect(isAsked(change, { attributes: ['aws_lambda_function.environment'] })).toBe(false);
    expect(isAsked(change, { attributes: ['aws_lambda_function.env', 'aws_lambda_alias.environment'] })).toBe(true);
    const host = update('kubernetes_deployment.d', WEB, podsOf('registry.internal/web:4.2.0', { host_pid: true }));
    expect(isAsked(host, { attributes: ['kubernetes_deployment.spec.template'] })).toBe(false);
  });

  it('are named in one finding for each resource, not all of them if there are many', () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`a${i}`, i]));
    const found = run(create('aws_instance.i', many));
    expect(found.evidenceRefs).toHaveLength(1);
    expect(found.reason).toMatch(/changes "a0", .*"a7" and 22 more, not on the list of this rule for "aws_instance"/);
  });
});

describe('a data source', () => {
  const configured = (type: string, mode = 'data') => ({
    configuration: { root_module: { resources: [{ address: `data.${type}.d`, mode, type, name: 'd' }] } },
  });

  it.each([
    ['aws_region', 'data', false],
    ['random_password', 'ephemeral', false],
    ['terraform_remote_state', 'data', true],
    ['archive_file', 'data', true],
    ['aws_lambda_invocation', 'ephemeral', true],
  ])('asks unless it is known to only read: %s (%s)', (type, mode, asked) => {
    const found = run(create('aws_sqs_queue.q', QUEUE), {}, configured(type, mode));
    expect(found.status).toBe(asked ? 'BLOCK' : 'ALLOW');
    expect(run(create('aws_sqs_queue.q', QUEUE), { types: [type] }, configured(type, mode)).status).toBe('ALLOW');
  });

  it('asks about the provider of one that apply reads', () => {
    const read = { address: 'data.aws_region.r', actions: ['read'], mode: 'data', type: 'aws_region' };
    expect(isAsked({ ...read })).toBe(false);
    expect(isAsked({ ...read, provider_name: 'registry.example.com/hashicorp/aws' })).toBe(true);
  });
});
