import { create, isAsked, podsOf, PORT, QUEUE, run, update } from './run-unlisted';

describe('an attribute with a hidden value', () => {
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
});

describe('a write-only argument, which is null in every plan', () => {
  const isSet = (address: string, more: object = {}, config: object = {}): boolean => {
    const expressions = { value_wo: { references: ['random_password.p.result'] }, name: {} };
    const configured = { configuration: { root_module: { resources: [{ address, mode: 'managed', expressions }] } } };
    return run(create(address, { name: 'a', value_wo: null }, more), config, configured).status !== 'ALLOW';
  };

  it('asks if a new resource sets it', () => {
    expect(isSet('aws_ssm_parameter.p')).toBe(true);
    expect(isSet('aws_ssm_parameter.p', {}, { attributes: ['aws_ssm_parameter.value_wo'] })).toBe(false);
  });

  it('asks if a new resource sets it in a block', () => {
    const address = 'google_cloud_tasks_queue.q';
    const expressions = { name: {}, rate_limits: [{ max_burst_size: {}, token_wo: { constant_value: 'a' } }] };
    const configured = { configuration: { root_module: { resources: [{ address, mode: 'managed', expressions }] } } };
    const queue = create(address, { name: 'a', rate_limits: [{ max_burst_size: 1, token_wo: null }] });
    expect(run(queue, {}, configured).reason).toMatch(/sets "rate_limits.token_wo", of which a plan shows no value/);
    const attributes = ['google_cloud_tasks_queue.rate_limits'];
    expect(run(queue, { attributes }, configured).status).toBe('ALLOW');
  });

  it('passes in a secret of a vault, and if an update does not change its version', () => {
    expect(isSet('azurerm_key_vault_secret.s')).toBe(false);
    expect(isSet('aws_ssm_parameter.p', { actions: ['update'], before: { name: 'b' } })).toBe(false);
  });
});
