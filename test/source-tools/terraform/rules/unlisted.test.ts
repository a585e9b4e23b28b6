import { create, isAsked, QUEUE, run } from './run-unlisted';

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

describe('a data source', () => {
  const configured = (type: string, mode = 'data') => {
    const queue = { address: 'aws_sqs_queue.q', mode: 'managed', type: 'aws_sqs_queue', name: 'q' };
    const resources = [queue, { address: `data.${type}.d`, mode, type, name: 'd' }];
    return { configuration: { root_module: { resources } } };
  };

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
