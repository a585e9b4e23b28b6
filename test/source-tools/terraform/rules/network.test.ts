import { packDefinitions } from '../../../../source-tools';
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
    packDefinitions,
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

describe('a firewall rule of which the plan hides a member', () => {
  const heldBy = (address: string, after: object, unknown: object): readonly string[] =>
    ['terraform_open_ingress', 'terraform_open_egress'].filter(
      (name) =>
        runRule(packDefinitions, name, planOf([{ address, actions: ['create'], after, after_unknown: unknown }]))
          .status !== 'ALLOW',
    );
  const ingress = ['terraform_open_ingress'];
  const both = ['terraform_open_ingress', 'terraform_open_egress'];

  it('is read as a rule that allows traffic, in both directions if the direction is hidden', () => {
    const aws = { ...rule('tcp', 22, 22), type: null };
    expect(heldBy('aws_security_group_rule.a', aws, { type: true })).toEqual(both);
    const acl = { protocol: '6', from_port: 22, to_port: 22, cidr_block: '0.0.0.0/0', egress: false };
    expect(heldBy('aws_network_acl_rule.a', acl, { rule_action: true })).toEqual(ingress);
    expect(heldBy('aws_network_acl_rule.a', { ...acl, rule_action: 'allow' }, { egress: true })).toEqual(both);
    expect(heldBy('aws_network_acl_rule.a', { ...acl, rule_action: 'deny' }, {})).toEqual([]);
    const azure = { direction: 'Inbound', destination_port_range: '22', source_address_prefix: '*' };
    expect(heldBy('azurerm_network_security_rule.a', azure, { access: true })).toEqual(ingress);
    expect(heldBy('azurerm_network_security_rule.a', { ...azure, access: 'Allow' }, { direction: true })).toEqual(
      ingress,
    );
    const google = { allow: [{ protocol: 'tcp', ports: ['22'] }], source_ranges: ['0.0.0.0/0'] };
    expect(heldBy('google_compute_firewall.a', google, { direction: true })).toEqual(ingress);
  });

  it('opens every port if one of its ports is hidden', () => {
    const google = {
      direction: 'INGRESS',
      allow: [{ protocol: 'tcp', ports: ['443', null] }],
      source_ranges: ['::/0'],
    };
    expect(heldBy('google_compute_firewall.a', google, { allow: [{ ports: [false, true] }] })).toEqual(ingress);
    expect(heldBy('google_compute_firewall.a', { ...google, allow: [{ ports: ['443'] }] }, {})).toEqual([]);
  });

  it('is undecided if one of its address ranges is hidden', () => {
    const aws = { ...rule('tcp', 22, 22), cidr_blocks: ['10.0.0.0/8', null] };
    expect(heldBy('aws_security_group_rule.a', aws, { cidr_blocks: [false, true] })).toEqual(ingress);
  });
});

describe('a resource that is destroyed', () => {
  const isForbidden = (before: object): boolean =>
    runRule(
      packDefinitions,
      'terraform_deletion_protection',
      planOf([{ address: 'aws_iam_user.a', actions: ['delete'], before }]),
    ).status !== 'ALLOW';

  it('is not forbidden by settings that only control what happens to its data', () => {
    expect(isForbidden({ force_destroy: false, skip_final_snapshot: false })).toBe(false);
    expect(isForbidden({ deletion_protection: true })).toBe(true);
  });
});
