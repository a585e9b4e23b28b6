import { planOf } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { fires } from '../../../policy/rules/support/run-pack-rule';

interface Given {
  readonly address: string;
  readonly unknown: Readonly<Record<string, boolean>>;
  /** Members that the configuration sets; null if it does not contain the resource. */
  readonly set: readonly string[] | null;
  readonly action?: string;
}

function isFound(rule: string, { address, unknown, set, action = 'create' }: Given): boolean {
  const [type, name] = address
    .split('.')
    .slice(-2)
    .map((part) => part.split('[')[0]);
  const resource = {
    address: `${type}.${name}`,
    mode: 'managed',
    type,
    name,
    expressions: Object.fromEntries((set ?? []).map((member) => [member, {}])),
  };
  const module = { resources: set === null ? [] : [resource] };
  const root = address.startsWith('module.') ? { module_calls: { a: { source: './a', module } } } : module;
  const change = { address, type: type ?? '', actions: [action], before: action === 'create' ? null : {}, after: {} };
  const plan = planOf([{ ...change, after_unknown: unknown }], { configuration: { root_module: root } });
  return fires(rule, plan);
}

const queue = { address: 'aws_sqs_queue.q', unknown: { policy: true, arn: true } };
const bucket = { address: 'aws_s3_bucket.b', unknown: { policy: true, acl: true, arn: true } };

describe('a value that is not known before apply', () => {
  it('is accepted as the default of the service if the configuration does not set it', () => {
    expect(isFound('terraform_iam_widening', { ...queue, set: ['name'] })).toBe(false);
    expect(isFound('terraform_iam_widening', { ...bucket, set: ['bucket'] })).toBe(false);
    expect(isFound('terraform_public_access', { ...bucket, set: ['bucket'] })).toBe(false);
  });

  it('is matched inside a module and with a key that contains brackets', () => {
    const address = 'module.a["x].y"].aws_sqs_queue.q[0]';
    expect(isFound('terraform_iam_widening', { ...queue, address, set: ['name'] })).toBe(false);
    expect(isFound('terraform_iam_widening', { ...queue, address, set: ['policy'] })).toBe(true);
  });

  it('is undecided if the configuration sets it or does not contain the resource, or if the resource already exists', () => {
    expect(isFound('terraform_iam_widening', { ...queue, set: ['policy'] })).toBe(true);
    expect(isFound('terraform_iam_widening', { ...queue, set: null })).toBe(true);
    expect(isFound('terraform_iam_widening', { ...queue, set: ['name'], action: 'update' })).toBe(true);
    expect(isFound('terraform_public_access', { ...bucket, set: null })).toBe(true);
  });

  it('of a start script is undecided if the configuration does not contain the resource', () => {
    const machine = { address: 'aws_instance.i', unknown: { user_data: true, id: true } };
    expect(isFound('terraform_remote_script', { ...machine, set: ['ami'] })).toBe(false);
    expect(isFound('terraform_remote_script', { ...machine, set: ['ami', 'user_data'] })).toBe(true);
    expect(isFound('terraform_remote_script', { ...machine, set: null })).toBe(true);
  });

  it('is undecided if it is a block, because a dynamic block is not shown as set', () => {
    const group = { address: 'aws_security_group.g', unknown: { ingress: true } };
    expect(isFound('terraform_open_ingress', { ...group, set: ['name'] })).toBe(true);
    expect(isFound('terraform_unknown_after_apply', { ...group, set: ['name'] })).toBe(true);
    const role = { address: 'aws_iam_role.r', unknown: { inline_policy: true } };
    expect(isFound('terraform_iam_widening', { ...role, set: ['name'] })).toBe(true);
  });
});
