import { planOf } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { fires, runRule } from '../../../policy/rules/support/run-pack-rule';
import { isHeld } from './is-held';

const rule = (protocol: string, from: number, to: number) => ({
  type: 'ingress',
  protocol,
  from_port: from,
  to_port: to,
  cidr_blocks: ['0.0.0.0/0'],
});
const isOpen = (after: object, config = {}): boolean =>
  fires('terraform_open_ingress', planOf([{ address: 'aws_security_group_rule.a', actions: ['create'], after }]), {
    config,
  });

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
    ['terraform_open_ingress', 'terraform_open_egress'].filter((name) =>
      isHeld(name, address, null, after, { after_unknown: unknown }),
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
    isHeld('terraform_deletion_protection', 'aws_iam_user.a', before, null);

  it('is not forbidden by settings that only control what happens to its data', () => {
    expect(isForbidden({ force_destroy: false, skip_final_snapshot: false })).toBe(false);
    expect(isForbidden({ deletion_protection: true })).toBe(true);
  });
});

describe('an update of a firewall rule that keeps its addresses', () => {
  const isFound = (address: string, before: object, after: object): boolean =>
    isHeld('terraform_open_ingress', address, before, after);
  const block = (port: number, cidr = '0.0.0.0/0') => ({
    protocol: 'tcp',
    from_port: port,
    to_port: port,
    cidr_blocks: [cidr],
  });
  const google = (port: string, more = {}) => ({
    direction: 'INGRESS',
    allow: [{ protocol: 'tcp', ports: [port] }],
    source_ranges: ['0.0.0.0/0'],
    ...more,
  });
  const azure = { direction: 'Inbound', destination_port_range: '22', source_address_prefix: '*' };

  it('is found if it opens other ports, is enabled, allows what it denied or applies to more machines', () => {
    const aws = { ip_protocol: 'tcp', cidr_ipv4: '0.0.0.0/0', from_port: 443, to_port: 443 };
    expect(isFound('aws_vpc_security_group_ingress_rule.a', aws, { ...aws, from_port: 22 })).toBe(true);
    expect(isFound('aws_security_group.a', { ingress: [block(443)] }, { ingress: [block(22), block(443)] })).toBe(true);
    expect(isFound('google_compute_firewall.a', google('443'), google('22'))).toBe(true);
    expect(isFound('google_compute_firewall.a', google('22', { disabled: true }), google('22'))).toBe(true);
    expect(isFound('google_compute_firewall.a', google('22', { target_tags: ['a'] }), google('22'))).toBe(true);
    const deny = { ...azure, access: 'Deny' };
    expect(isFound('azurerm_network_security_rule.a', deny, { ...azure, access: 'Allow' })).toBe(true);
  });

  it('passes if only its position or its description changes', () => {
    const open = block(22);
    const after = { ingress: [block(9, '10.0.0.0/8'), { ...open, description: 'x' }] };
    expect(isFound('aws_security_group.a', { ingress: [open] }, after)).toBe(false);
    expect(isFound('google_compute_firewall.a', google('22'), google('22', { description: 'x' }))).toBe(false);
  });
});

describe('a firewall rule that hides its ports', () => {
  const isAllOpen = (address: string, after: object, unknown: object): boolean =>
    isHeld('terraform_open_ingress', address, null, after, { after_unknown: unknown });

  it('opens every port if its protocol is hidden or has no ports', () => {
    const after = { ...rule('tcp', 443, 443), protocol: null };
    expect(isAllOpen('aws_security_group_rule.a', after, { protocol: true })).toBe(true);
    expect(isAllOpen('aws_security_group_rule.a', rule('47', 443, 443), {})).toBe(true);
    expect(isAllOpen('aws_security_group_rule.a', rule('6', 443, 443), {})).toBe(false);
  });

  it('opens every port if one member with ports is hidden, though another is known', () => {
    const azure = { direction: 'Inbound', access: 'Allow', source_address_prefix: '*' };
    const ranges = { ...azure, destination_port_ranges: ['443', null] };
    expect(isAllOpen('azurerm_network_security_rule.a', ranges, { destination_port_ranges: [false, true] })).toBe(true);
    const range = { ...azure, destination_port_range: '443' };
    expect(isAllOpen('azurerm_network_security_rule.a', range, { destination_port_ranges: true })).toBe(true);
    expect(isAllOpen('azurerm_network_security_rule.a', range, {})).toBe(false);
  });
});

it.each([
  ['aws_network_acl.a', { ingress: [{ action: 'allow', protocol: '-1', cidr_block: '0.0.0.0/0' }] }],
  ['aws_ec2_managed_prefix_list.a', { entry: [{ cidr: '0.0.0.0/0' }] }],
  ['aws_ec2_managed_prefix_list_entry.a', { cidr: '0.0.0.0/0' }],
  ['aws_lightsail_instance_public_ports.a', { port_info: [{ protocol: 'tcp', from_port: 22, to_port: 22 }] }],
  ['google_compute_firewall.a', { direction: 'INGRESS', allow: [{ protocol: 'tcp', ports: ['22'] }] }],
  [
    'google_compute_network_firewall_policy_rule.a',
    {
      direction: 'INGRESS',
      action: 'allow',
      match: [{ src_ip_ranges: ['0.0.0.0/0'], layer4_configs: [{ ip_protocol: 'tcp', ports: ['22'] }] }],
    },
  ],
])('terraform_open_ingress holds %s with %j', (address, after) => {
  const plan = planOf([{ address, actions: ['create'], after }]);
  expect(runRule('terraform_open_ingress', plan).status).toBe('BLOCK');
});

it('reads a list of address ranges once, however many rules share it', () => {
  const after = {
    direction: 'INGRESS',
    allow: Array.from({ length: 6000 }, () => ({ protocol: 'tcp' })),
    source_ranges: Array.from({ length: 15_000 }, (_, i) => `10.${i >> 8}.${i % 256}.0/24`),
  };
  const plan = planOf([{ address: 'google_compute_firewall.a', actions: ['create'], after }]);
  const began = process.cpuUsage();
  expect(runRule('terraform_open_ingress', plan).status).toBe('ALLOW');
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(15_000);
});
