import { create, isAsked, podsOf, PORT, QUEUE, run, update } from './run-unlisted';
const WEB = podsOf('registry.internal/web:4.1.3');

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
