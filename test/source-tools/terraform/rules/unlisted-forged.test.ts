import { planOf, type ExampleResource } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { leastCpuMs } from '../../../support/least-cpu';
import { create, run } from './run-unlisted';
import { bytesOf, fires } from '../../../policy/rules/support/run-pack-rule';
import { extractTerraformPlanFacts } from '../../../../source-tools/terraform/facts/extract-terraform-facts';

const asks = (...resources: readonly ExampleResource[]): boolean =>
  fires('terraform_unlisted_change', planOf(resources));
const update = (address: string, before: object, after: object, after_unknown: unknown = {}): ExampleResource => ({
  address,
  actions: ['update'],
  before,
  after,
  after_unknown,
});
const stateOf = (account: string, more: object = {}): ExampleResource => {
  const value = { arn: `arn:aws:sns:eu-central-1:${account}:oncall` };
  return { address: 'aws_sns_topic.oncall', actions: ['no-op'], before: value, after: value, ...more };
};
const TOPIC = 'arn:aws:sns:eu-central-1:111122223333:oncall';

describe('a firewall rule with a source outside', () => {
  const rule = (port: number, more: object) => ({ ip_protocol: 'tcp', from_port: port, to_port: port, ...more });
  const inline = (port: number, more: object) => ({
    ingress: [{ protocol: 'tcp', from_port: port, to_port: port, ...more }],
  });

  it.each([
    ['aws_vpc_security_group_ingress_rule.r', rule, { cidr_ipv4: '203.0.113.7/32' }],
    ['aws_vpc_security_group_ingress_rule.r', rule, { prefix_list_id: 'pl-1' }],
    ['aws_vpc_security_group_ingress_rule.r', rule, { referenced_security_group_id: '999988887777/sg-1' }],
    ['aws_security_group.g', inline, { cidr_blocks: ['10.0.0.0/8', '203.0.113.7/32'] }],
    ['aws_security_group.g', inline, { prefix_list_ids: ['pl-1'] }],
  ])('asks if only its port changes: %s with %j', (address, ofPort, source) => {
    expect(asks(update(address, ofPort(443, source), ofPort(22, source)))).toBe(true);
  });

  it('passes if all its sources are private', () => {
    const source = { cidr_ipv4: '10.0.0.0/8' };
    expect(asks(update('aws_vpc_security_group_ingress_rule.r', rule(443, source), rule(8443, source)))).toBe(false);
  });

  it('asks if a rule of Google is switched on', () => {
    const firewall = (disabled: boolean) => ({ disabled, source_ranges: ['203.0.113.7/32'] });
    expect(asks(update('google_compute_firewall.f', firewall(true), firewall(false)))).toBe(true);
  });
});

describe('a value of which a part is not known before apply', () => {
  it.each([
    ['aws_instance.i', { tags: { Team: 'a' } }, { tags: { Team: 'a' } }, { tags: { Role: true } }],
    [
      'aws_cloudwatch_metric_alarm.a',
      { alarm_actions: [] },
      { alarm_actions: [TOPIC] },
      { alarm_actions: [false, true] },
    ],
    ['aws_ecs_service.s', { desired_count: 5 }, { desired_count: 5 }, { desired_count: true }],
    ['aws_ecs_service.s', { desired_count: 5 }, { desired_count: 5 }, [true]],
  ])('is not read as if it were complete: %s', (address, before, after, unknown) => {
    expect(asks(stateOf('111122223333'), update(address, before, after, unknown))).toBe(true);
    expect(asks(stateOf('111122223333'), update(address, before, after))).toBe(false);
  });
});

describe('a number before', () => {
  it.each([[[80]], [{ a: 80 }], ['+80'], ['1e3']])('asks if it cannot be compared: %j', (desired_count) => {
    expect(asks(update('aws_ecs_service.s', { desired_count }, { desired_count: 1 }))).toBe(true);
  });

  it('passes if it is absent or an empty text', () => {
    for (const desired_count of [null, ''])
      expect(asks(update('aws_ecs_service.s', { desired_count }, { desired_count: 1 }))).toBe(false);
  });
});

it.each([[[{ enabled: null }]], [[{}]], [[null]]])(
  'a protection that is only an empty block is missing: %j',
  (block) => {
    const after = { hash_key: 'id', deletion_protection_enabled: true, point_in_time_recovery: block };
    expect(asks({ address: 'aws_dynamodb_table.t', actions: ['create'], after })).toBe(true);
  },
);

it('a resource that the configuration does not contain asks, also of a type that a team has added', () => {
  const change = create('aws_sqs_queue.q', { name: 'mail' });
  const without = { configuration: { root_module: {} } };
  const noArguments = { configuration: { root_module: { resources: [{ address: change.address, mode: 'managed' }] } } };
  expect(run(change, {}, without).reason).toContain('"aws_sqs_queue.q": is not in the configuration of the plan');
  expect(run(change, { types: ['aws_sqs_queue'] }, without).status).toBe('BLOCK');
  expect(run(change, {}, noArguments).status).toBe('ALLOW');
});

it('an alias of a key passes only if there was no key before', () => {
  const alias = { kms_master_key_id: 'alias/mail' };
  expect(asks(update('aws_sqs_queue.q', { kms_master_key_id: '' }, alias))).toBe(false);
  expect(asks(update('aws_sqs_queue.q', { kms_master_key_id: 'alias/other' }, alias))).toBe(true);
  expect(asks(update('aws_secretsmanager_secret.s', { kms_key_id: 'k' }, { kms_key_id: 'alias/mail' }))).toBe(true);
});

it('an image with two digests asks', () => {
  const podsOf = (image: string) => ({ spec: [{ template: [{ spec: [{ container: [{ image }] }] }] }] });
  expect(asks(update('kubernetes_deployment.d', podsOf('r/a:1'), podsOf('r/a@sha256:00@sha256:11')))).toBe(true);
});

it('the account is that of resources of AWS', () => {
  const alarm = { address: 'aws_cloudwatch_metric_alarm.a', actions: ['create'], after: { alarm_actions: [TOPIC] } };
  expect(asks(stateOf('111122223333'), alarm)).toBe(false);
  const other = { type: 'null_resource', provider_name: 'registry.terraform.io/hashicorp/null' };
  expect(asks(stateOf('111122223333', other), alarm)).toBe(true);
});

describe('a plan that Terraform never writes is refused', () => {
  const codeOf = (plan: string) => {
    const facts = extractTerraformPlanFacts(bytesOf(plan));
    return facts.ok ? null : facts.code;
  };

  it('a new resource that has a value before, and an update of a resource that has none', () => {
    const value = { bucket: 'b', policy: '{}' };
    const of = (action: string, before: object | null) =>
      codeOf(planOf([{ address: 'aws_s3_bucket.b', actions: [action], before, after: value }]));
    expect([of('create', value), of('update', null)]).toEqual(['invalid_document', 'invalid_document']);
    expect([of('create', null), of('update', value)]).toEqual([null, null]);
  });

  it('a resource whose type is not that of its address', () => {
    const of = (address: string, type: string) =>
      codeOf(planOf([{ address, type, actions: ['create'], after: { name: 'a' } }]));
    expect(of('aws_iam_policy.p', 'aws_sqs_queue')).toBe('invalid_document');
    expect(of('module.aws_sqs_queue["a.aws_sqs_queue.p"].aws_iam_policy.p', 'aws_sqs_queue')).toBe('invalid_document');
    expect(of('module.a["x.y"].aws_sqs_queue.p["b.c"]', 'aws_sqs_queue')).toBeNull();
  });

  it('a plan without the configuration of its root module, and a configuration with two resources of one address', () => {
    const resource = { address: 'aws_s3_bucket.b', mode: 'managed', type: 'aws_s3_bucket', expressions: {} };
    const of = (configuration: unknown) => {
      const plan = JSON.parse(planOf([{ address: 'aws_s3_bucket.b', actions: ['create'], after: {} }])) as object;
      return codeOf(JSON.stringify({ ...plan, configuration }));
    };
    expect([of(undefined), of(null), of([]), of({}), of({ root_module: [] })]).toEqual(Array(5).fill('not_a_plan'));
    expect(of({ root_module: { resources: [resource, resource] } })).toBe('invalid_document');
    expect(of({ root_module: { resources: [resource] } })).toBeNull();
  });

  const program = { address: 'data.external.x', mode: 'data', type: 'external', name: 'x', expressions: {} };
  const call = (module: unknown, name = 'm') => ({ module_calls: { [name]: { source: './m', module } } });

  it.each([
    ['resources that are not a list', { resources: { 0: program } }],
    ['a resource that is not an object', { resources: [[program]] }],
    ['a data source as a managed resource', { resources: [{ ...program, mode: 'managed' }] }],
    ['a data source of another type', { resources: [{ ...program, type: 'aws_region' }] }],
    [
      'a managed resource with the address of another module',
      { resources: [{ address: 'module.m.aws_s3_bucket.b', mode: 'managed' }] },
    ],
    ['module calls that are not an object', { module_calls: [{ source: './m', module: { resources: [program] } }] }],
    [
      'a module call that is not an object',
      { module_calls: { m: [{ source: './m', module: { resources: [program] } }] } },
    ],
    ['a module that is not an object', call([{ resources: [program] }])],
    ['resources in a module that are not a list', call({ resources: { 0: program } })],
    [
      'provisioners that are not a list',
      { resources: [{ address: 'null_resource.n', mode: 'managed', provisioners: { 0: { type: 'local-exec' } } }] },
    ],
  ])('a configuration with %s', (_, root_module) => {
    expect(codeOf(planOf([], { configuration: { root_module } }))).toBe('invalid_document');
  });

  it.each([
    ['a list', [{ full_name: 'example.com/a/b' }]],
    ['a provider that is not an object', { b: [{ full_name: 'example.com/a/b' }] }],
    ['a provider of a module that is not called', { b: { full_name: 'example.com/a/b', module_address: 'module.b' } }],
  ])('a configuration whose providers are or contain %s', (_, provider_config) => {
    expect(codeOf(planOf([], { configuration: { provider_config } }))).toBe('invalid_document');
  });

  it.each([{ a: { status: 'fail' } }, [[{ status: 'fail' }]]])(
    'checks that are not a list of objects: %j',
    (checks) => {
      expect(codeOf(planOf([], { checks }))).toBe('invalid_document');
    },
  );

  it('a module whose address is longer than 1000 characters', () => {
    const nested = (names: readonly string[]): object =>
      names.reduceRight<object>((module, name) => call(module, name), {});
    expect(codeOf(planOf([], { configuration: { root_module: nested(Array<string>(4).fill('m'.repeat(300))) } }))).toBe(
      'invalid_document',
    );
    expect(
      codeOf(planOf([], { configuration: { root_module: nested(Array<string>(3).fill('m'.repeat(300))) } })),
    ).toBeNull();
  });

  it('a provider with a list of blocks and other values', () => {
    const features = [{ key_vault: [{ purge_soft_delete_on_destroy: { constant_value: true } }] }, 'x'];
    const provider = { full_name: 'registry.terraform.io/hashicorp/azurerm', expressions: { features } };
    expect(codeOf(planOf([], { configuration: { provider_config: { azurerm: provider } } }))).toBe('invalid_document');
  });
});

describe('a plan of a hostile size is read in a short time', () => {
  const many = (value: unknown) => Object.fromEntries(Array.from({ length: 18_000 }, (_, i) => [`a${i}`, value]));
  const nested = (last: number): unknown =>
    Array.from({ length: 110 }).reduce<unknown>((list) => [list], [...Array.from({ length: 15_000 }, () => 0), last]);

  it.each<readonly [string, ExampleResource]>([
    ['names', { address: 'aws_instance.i', actions: ['create'], after: many(1), after_sensitive: many(true) }],
    ['lists', update('kubernetes_deployment.d', { spec: nested(0) }, { spec: nested(1) })],
    [
      'address ranges',
      {
        address: 'aws_vpc_security_group_ingress_rule.r',
        actions: ['create'],
        after: { ip_protocol: 'tcp', from_port: 22, to_port: 22, cidr_ipv4: `a:${'.'.repeat(900_000)}x` },
      },
    ],
  ])('%s', (_, resource) => {
    expect(leastCpuMs(() => expect(asks(resource)).toBe(true), 1)).toBeLessThan(3000);
  });
});
