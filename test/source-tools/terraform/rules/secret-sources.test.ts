import { planOf, type ExampleResource } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const RULE = 'terraform_unlisted_change';
const TOPIC = 'aws_sns_topic.t';
const reference = (...references: readonly string[]) => ({ references });

/** A new topic whose `display_name` is unknown and comes from an expression, in a root module with more members. */
function topicFrom(display_name: object, more: object = {}, config: object = {}) {
  const resource = { address: TOPIC, mode: 'managed', type: 'aws_sns_topic', name: 't', expressions: { display_name } };
  const after = { name: 't', kms_master_key_id: 'alias/aws/sns' };
  const unknown = { address: TOPIC, actions: ['create'], after, after_unknown: { display_name: true } };
  return run(unknown, { configuration: { root_module: { resources: [resource], ...more } } }, config);
}

function run(resource: ExampleResource | null, more: Readonly<Record<string, unknown>> = {}, config: object = {}) {
  return runRule(RULE, planOf(resource === null ? [] : [resource], more), { config });
}

const moduleWith = (module: object, expressions: object = {}, more: object = {}) => ({
  module_calls: { m: { source: './m', expressions, module, ...more } },
});

describe('a listed attribute whose value is not known before apply', () => {
  it.each([
    ['a listed resource', reference('aws_sqs_queue.q.name', 'aws_sqs_queue.q')],
    ['a listed data source', reference('data.aws_region.here.id', 'data.aws_region.here')],
    ['an id of a secret', reference('aws_secretsmanager_secret.s.arn', 'aws_secretsmanager_secret.s')],
    ['what the plan shows', reference('var.name', 'count.index', 'path.module', 'terraform.workspace')],
  ])('passes if it comes from %s', (_, expression) => {
    expect(topicFrom(expression).status).toBe('ALLOW');
  });

  it.each([
    ['a file', reference('data.local_file.f.content', 'data.local_file.f'), 'data.local_file.content'],
    ['a secret', reference('random_password.p.result', 'random_password.p'), 'random_password.result'],
    ['a key of a listed type', reference('aws_sqs_queue.q[0].auth_token'), 'aws_sqs_queue.auth_token'],
    ['an ephemeral resource', reference('ephemeral.aws_region.r.id'), 'ephemeral.aws_region.id'],
    ['a type that is not listed', reference('aws_thing.t.id'), 'aws_thing.id'],
    ['a local value', reference('local.name'), 'local'],
    ['part of an expression', { nested: [{ a: reference('random_password.p.result') }] }, 'random_password.result'],
  ])('asks if it comes from %s', (_, expression, kind) => {
    const found = topicFrom(expression);
    expect(found.status).toBe('BLOCK');
    expect(found.reason).toContain(`sets "display_name", which is not known before apply, from "${kind}"`);
    expect(topicFrom(expression, {}, { attributes: ['aws_sns_topic.display_name'] }).status).toBe('ALLOW');
  });

  it('is followed through outputs, variables and keys of modules', () => {
    const secret = reference('random_password.p.result', 'random_password.p');
    const output = reference('module.m.out', 'module.m');
    const outputs = (expression: object) => ({ outputs: { out: { expression } } });
    expect(topicFrom(output, moduleWith(outputs(secret))).reason).toContain('"random_password.result"');
    expect(topicFrom(output, moduleWith(outputs(reference('aws_sqs_queue.q.name')))).status).toBe('ALLOW');
    const handedIn = outputs(reference('var.a'));
    expect(topicFrom(output, moduleWith(handedIn, { a: secret })).reason).toContain('"random_password.result"');
    expect(topicFrom(output, moduleWith(handedIn, { b: secret })).status).toBe('ALLOW');
    const keyed = moduleWith(handedIn, { a: reference('each.value') }, { for_each_expression: secret });
    expect(topicFrom(output, keyed).reason).toContain('"random_password.result"');
    expect(topicFrom(reference('module.m')).status).toBe('BLOCK');
  });

  it('asks if it refers to itself, or through too many modules', () => {
    const self = moduleWith({ outputs: { out: { expression: reference('var.a') } } }, { a: reference('module.m.out') });
    expect(topicFrom(reference('module.m.out'), self).status).toBe('BLOCK');
    const calls = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [
        `m${i}`,
        { expressions: { a: reference(`module.m${i + 1}.out`) }, ...moduleOf(reference('var.a')) },
      ]),
    );
    expect(topicFrom(reference('module.m0.out'), { module_calls: calls }).status).toBe('BLOCK');
  });
});

const moduleOf = (expression: object) => ({ source: './m', module: { outputs: { out: { expression } } } });

/** Outputs of the root module refer to a key that exists already, or to something else. */
describe('an output that is not sensitive', () => {
  const value = { algorithm: 'ED25519', private_key_pem: 'x' };
  const hidden = { private_key_pem: true };
  const key = { before: value, after: value, before_sensitive: hidden, after_sensitive: hidden };
  const output = (expression: object, root: object = {}) => {
    const change = { actions: ['create'], before: null, after: 'x', after_sensitive: false };
    const configuration = { root_module: { outputs: { a: { expression } }, ...root } };
    return run(
      { address: 'tls_private_key.k', actions: ['no-op'], ...key },
      { output_changes: { a: change }, configuration },
    );
  };
  const named = (name: string) => [`tls_private_key.k.${name}`, 'tls_private_key.k'];

  it.each([
    ['an attribute that is a secret', reference(...named('private_key_pem'))],
    ['a complete resource with a secret', reference('tls_private_key.k')],
    [
      'an attribute by its index',
      reference('tls_private_key.k[0]["private_key_pem"]', 'tls_private_key.k[0]', 'tls_private_key.k'),
    ],
    ['another attribute and a complete resource', reference(...named('id'), 'tls_private_key.k')],
    ['a complete data source with a secret', reference('data.azurerm_storage_account.a')],
  ])('asks if it refers to %s', (_, expression) => {
    expect(output(expression).reason).toContain('the output "a" is not sensitive, and refers to');
  });

  it.each([
    ['another attribute', reference(...named('id'), ...named('algorithm'))],
    ['a complete resource without a secret', reference('aws_sqs_queue.q')],
    ['a complete data source without a secret', reference('data.aws_subnet.s')],
  ])('passes if it refers to %s', (_, expression) => {
    expect(output(expression).reason ?? '').not.toContain('the output');
  });

  it('asks if it comes from a local value, and the plan contains a secret', () => {
    const local = reference('local.a');
    expect(output(local).reason).toContain('the output "a" is not sensitive, and refers to "local"');
    const change = { actions: ['create'], before: null, after: 'x', after_sensitive: false };
    const configuration = { root_module: { outputs: { a: { expression: local } } } };
    expect(run(null, { output_changes: { a: change }, configuration }).status).toBe('ALLOW');
    const data = { address: 'data.aws_ssm_parameter.p', mode: 'data', type: 'aws_ssm_parameter', name: 'p' };
    const reads = { root_module: { ...configuration.root_module, resources: [data] } };
    expect(run(null, { output_changes: { a: change }, configuration: reads }).reason).toContain('refers to "local"');
  });

  it('asks if it refers to a complete module with a secret, or to an output that the module does not have', () => {
    const outputs = (expression: object) => moduleWith({ outputs: { constant_value: { expression } } });
    expect(output(reference('module.m'), outputs(reference(...named('private_key_pem')))).reason).toContain(
      'refers to',
    );
    expect(output(reference('module.m'), outputs(reference(...named('id')))).reason ?? '').not.toContain('the output');
    expect(output(reference('module.m.b', 'module.m'), outputs({})).reason).toContain('cannot be followed');
  });

  it('asks if it refers to more than is followed, before the secret', () => {
    const others = Array.from({ length: 60 }, (_, i) => [`aws_sqs_queue.q.a${i}`, 'aws_sqs_queue.q']).flat();
    expect(output(reference(...others, ...named('private_key_pem'))).reason).toContain('cannot be followed');
    const calls = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `m${i}`,
        {
          expressions: { a: reference(...(i === 0 ? named('private_key_pem') : [`module.m${i - 1}.out`])) },
          ...moduleOf(reference('var.a')),
        },
      ]),
    );
    expect(output(reference('module.m39.out', 'module.m39'), { module_calls: calls }).reason).toContain(
      'cannot be followed',
    );
  });
});

it('a value from `each` asks if `for_each` is over resources with secrets, or if the resource has no `for_each`', () => {
  const masks = { before_sensitive: { auth_token: true }, after_sensitive: { auth_token: true } };
  const cache = { address: 'aws_elasticache_replication_group.c', actions: ['no-op'], before: {}, after: {}, ...masks };
  const topic = {
    address: TOPIC,
    actions: ['create'],
    after: { name: 't', kms_master_key_id: 'alias/aws/sns' },
    after_unknown: { display_name: true },
  };
  const from = (more: object) => {
    const expressions = { display_name: reference('each.value.auth_token', 'each.value') };
    const resource = { address: TOPIC, mode: 'managed', type: 'aws_sns_topic', name: 't', expressions, ...more };
    const plan = planOf([topic, cache], { configuration: { root_module: { resources: [resource] } } });
    return runRule(RULE, plan);
  };
  expect(from({ for_each_expression: reference(cache.address) }).reason).toContain(
    '"aws_elasticache_replication_group"',
  );
  expect(from({ for_each_expression: reference('aws_sqs_queue.q') }).status).toBe('ALLOW');
  expect(from({}).reason).toContain('cannot be followed');
});

describe('a listed attribute with a sensitive value', () => {
  const triggers = { note: 'value' };

  it.each([
    ['before', { before_sensitive: { triggers: true } }],
    ['after', { after_sensitive: { triggers: true } }],
    ['in part', { after_sensitive: { triggers: { note: true } } }],
  ])('asks if the plan hides it: %s', (_, masks) => {
    const found = run({
      address: 'null_resource.n',
      actions: ['update'],
      before: { triggers: {} },
      after: { triggers },
      ...masks,
    });
    expect(found.reason).toContain('sets sensitive values in "triggers"');
    expect(found.reason).not.toContain('note');
    expect(
      run({ address: 'null_resource.n', actions: ['update'], before: { triggers }, after: { triggers }, ...masks })
        .status,
    ).toBe('ALLOW');
  });

  it('passes if the provider computes it', () => {
    const masks = { after_unknown: { result: true }, after_sensitive: { result: true } };
    const secret = { address: 'random_password.p', actions: ['create'], after: { length: 24 }, ...masks };
    expect(run(secret).status).toBe('ALLOW');
  });
});

it.each(['local_file', 'aws_ssm_parameter', 'aws_secretsmanager_secret_version', 'kubernetes_secret_v1'])(
  'reading %s asks',
  (type) => {
    const resources = [{ address: `data.${type}.d`, mode: 'data', type, name: 'd', expressions: {} }];
    expect(run(null, { configuration: { root_module: { resources } } }).reason).toContain(`reads "${type}"`);
  },
);

describe('an output', () => {
  const change = { actions: ['create'], before: null, after: 'x', after_sensitive: false };
  const output = (name: string, expression: object, more: object = {}, root: object = {}) =>
    run(null, {
      output_changes: { [name]: { ...change, ...more } },
      configuration: { root_module: { outputs: { [name]: { expression } }, ...root } },
    });

  it.each([
    ['a secret', reference('random_password.p.result')],
    ['a file', reference('data.local_file.f.content')],
    ['a key of a resource', reference('azurerm_storage_account.a.primary_access_key')],
  ])('that is not sensitive asks if it refers to %s', (_, expression) => {
    expect(output('a', expression).reason).toContain('the output "a" is not sensitive, and refers to');
    expect(output('a', expression, { after_sensitive: true }).reason ?? '').not.toContain('the output');
    const unchanged = { actions: ['no-op'], before: 'x' };
    expect(output('a', expression, unchanged).reason ?? '').not.toContain('the output');
    expect(output('a', expression, { ...unchanged, before: 'y' }).reason).toContain('the output "a"');
  });

  it('asks if it refers to a sensitive variable, or is named as a secret', () => {
    const variables = { a: { sensitive: true }, b: {} };
    expect(output('a', reference('var.a'), {}, { variables }).reason).toContain('"sensitive variable"');
    expect(output('a', reference('var.b'), {}, { variables }).status).toBe('ALLOW');
    expect(output('a', reference('local.b'), {}, { variables }).reason).toContain('"sensitive variable"');
    expect(output('a', reference('local.b'), {}, { variables: { b: {} } }).status).toBe('ALLOW');
    expect(output('db_password', {}).reason).toContain('is named as a secret');
    expect(output('kubeconfig', reference('local.kubeconfig')).reason).toContain('is named as a secret');
    expect(output('db_password', {}, { actions: ['delete'], before: 'x', after: null }).status).toBe('ALLOW');
    expect(output('secret_arn', {}).status).toBe('ALLOW');
  });
});

it('tags and labels of a provider ask if they refer to a secret, also in a module', () => {
  const full_name = 'registry.terraform.io/hashicorp/aws';
  const tagged = (tag: object, module_address?: string) => {
    const p = { full_name, module_address, expressions: { default_tags: [{ tags: tag }] } };
    const root_module = moduleWith({}, { a: reference('random_password.p.result') });
    return run(null, { configuration: { provider_config: { p }, root_module } });
  };
  expect(tagged(reference('random_password.p.result')).reason).toContain('refer to "random_password.result"');
  expect(tagged(reference('var.a'), 'module.m').reason).toContain('refer to "random_password.result"');
  expect(tagged(reference('var.a')).status).toBe('ALLOW');
});
