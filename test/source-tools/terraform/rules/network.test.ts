import { terraformPlanPack } from '../../../../source-tools/terraform/rules';
import { planOf } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const rule = (protocol: string, from: number, to: number) => ({
  type: 'ingress',
  protocol,
  from_port: from,
  to_port: to,
  cidr_blocks: ['0.0.0.0/0'],
});
const isOpen = (after: object, config = {}): boolean =>
  runRule(
    terraformPlanPack,
    'terraform_open_ingress',
    planOf([{ address: 'aws_security_group_rule.a', actions: ['create'], after }]),
    { config },
  ).status !== 'ALLOW';

describe('a rule that allows traffic from the internet', () => {
  it('opens no port if it allows ICMP, and is found only if no port is excepted', () => {
    expect(isOpen(rule('icmp', -1, -1))).toBe(false);
    expect(isOpen(rule('icmp', 8, 0), { ports: [22] })).toBe(false);
    expect(isOpen(rule('icmp', -1, -1), { except: [] })).toBe(true);
  });

  it('opens every port if it allows every protocol', () => {
    expect(isOpen(rule('-1', 0, 0), { ports: [22] })).toBe(true);
    expect(isOpen(rule('tcp', 20, 30), { ports: [22] })).toBe(true);
    expect(isOpen(rule('tcp', 443, 443))).toBe(false);
  });
});

describe('a resource that is destroyed', () => {
  const isForbidden = (before: object): boolean =>
    runRule(
      terraformPlanPack,
      'terraform_deletion_protection',
      planOf([{ address: 'aws_iam_user.a', actions: ['delete'], before }]),
    ).status !== 'ALLOW';

  it('is not forbidden by settings that only control what happens to its data', () => {
    expect(isForbidden({ force_destroy: false, skip_final_snapshot: false })).toBe(false);
    expect(isForbidden({ deletion_protection: true })).toBe(true);
  });
});
