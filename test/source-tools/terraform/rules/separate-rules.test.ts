import { planOf, type ExampleResource } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { fires } from '../../../policy/rules/support/run-pack-rule';

const group = (name: string, unknown: object = { ingress: true, id: true }): ExampleResource => ({
  address: `aws_security_group.${name}`,
  actions: ['create'],
  after: { name },
  after_unknown: unknown,
});
const rule: ExampleResource = {
  address: 'aws_security_group_rule.r',
  actions: ['create'],
  after: { type: 'ingress', protocol: 'tcp', from_port: 22, to_port: 22, cidr_blocks: ['10.0.0.0/8'] },
  after_unknown: { security_group_id: true },
};
const configurationOf = (ofGroup: object, references: readonly string[]) => ({
  configuration: {
    root_module: {
      resources: [
        {
          address: 'aws_security_group.a',
          mode: 'managed',
          type: 'aws_security_group',
          name: 'a',
          expressions: ofGroup,
        },
        {
          address: 'aws_security_group_rule.r',
          mode: 'managed',
          type: 'aws_security_group_rule',
          name: 'r',
          expressions: { security_group_id: { references } },
        },
      ],
    },
  },
});

const heldBy = (resources: readonly ExampleResource[], more: object = {}): readonly string[] =>
  ['terraform_open_ingress', 'terraform_open_egress', 'terraform_unknown_after_apply'].filter((name) =>
    fires(name, planOf(resources, { ...more })),
  );

describe('a new security group whose rules are not known before apply', () => {
  it('passes if the configuration sets no rules in it and a separate rule refers to it', () => {
    const configuration = configurationOf({ name: {} }, ['aws_security_group.a.id', 'aws_security_group.a']);
    expect(heldBy([group('a'), rule], configuration)).toEqual([]);
  });

  it('is undecided if the configuration sets rules in it, or if no rule refers to it', () => {
    const both = ['terraform_open_ingress', 'terraform_unknown_after_apply'];
    const set = configurationOf({ name: {}, ingress: {} }, ['aws_security_group.a.id']);
    expect(heldBy([group('a'), rule], set)).toEqual(both);
    expect(heldBy([group('a'), rule], configurationOf({ name: {} }, ['aws_security_group.b.id']))).toEqual(both);
    expect(heldBy([group('a'), rule], configurationOf({ name: {} }, ['module.x.group_id']))).toEqual(both);
  });

  it('is undecided if the configuration sets its outgoing rules, and they are not known either', () => {
    const egress = { references: ['random_id.r.hex', 'random_id.r'] };
    const configuration = configurationOf({ name: {}, egress }, ['aws_security_group.a.id']);
    expect(heldBy([group('a', { ingress: true, egress: true }), rule], configuration)).toContain(
      'terraform_open_egress',
    );
    expect(heldBy([group('a', { ingress: true }), rule], configuration)).toEqual([]);
  });

  it('is undecided if the configuration does not contain it', () => {
    const configuration = configurationOf({ name: {} }, ['aws_security_group.b.id']);
    expect(heldBy([group('b'), rule], configuration)).toEqual([
      'terraform_open_ingress',
      'terraform_unknown_after_apply',
    ]);
  });

  it('is undecided if it is sensitive, or if an existing group is updated', () => {
    const sensitive = { ...group('a', {}), after: { ingress: [] }, after_sensitive: { ingress: true } };
    expect(heldBy([sensitive, rule])).toContain('terraform_open_ingress');
    const updated = { ...group('a'), actions: ['update'], before: {} };
    expect(heldBy([updated, rule])).toContain('terraform_open_ingress');
  });

  it('of Azure passes if a separate rule refers to it', () => {
    const azure = {
      address: 'azurerm_network_security_group.a',
      actions: ['create'],
      after: { name: 'web' },
      after_unknown: { security_rule: true },
    };
    const configurationOf = (group: string) => {
      const name = { references: [`azurerm_network_security_group.${group}.name`] };
      const type = 'azurerm_network_security_rule';
      const resources = [
        { address: azure.address, mode: 'managed', expressions: { name: {} } },
        { address: `${type}.r`, mode: 'managed', type, expressions: { network_security_group_name: name } },
      ];
      return { configuration: { root_module: { resources } } };
    };
    expect(heldBy([azure], configurationOf('a'))).toEqual([]);
    expect(heldBy([azure], configurationOf('b'))).toEqual([
      'terraform_open_ingress',
      'terraform_open_egress',
      'terraform_unknown_after_apply',
    ]);
  });
});

it('a new Google firewall rule whose address ranges are not known passes only if it admits tags', () => {
  const firewall = (more: object): ExampleResource => ({
    address: 'google_compute_firewall.f',
    actions: ['create'],
    after: { direction: 'INGRESS', allow: [{ protocol: 'tcp', ports: ['22'] }], ...more },
    after_unknown: { source_ranges: true },
  });
  const both = ['terraform_open_ingress', 'terraform_unknown_after_apply'];
  const resource = {
    address: 'google_compute_firewall.f',
    mode: 'managed',
    type: 'google_compute_firewall',
    name: 'f',
  };
  const configured = (expressions: object) => ({
    configuration: { root_module: { resources: [{ ...resource, expressions }] } },
  });
  const tags = { source_tags: { constant_value: ['web'] } };
  const ranges = { source_ranges: { references: ['var.ranges'] } };
  expect(heldBy([firewall({ source_tags: ['web'] })], configured(tags))).toEqual([]);
  expect(heldBy([firewall({})], configured({}))).toEqual(both);
  expect(heldBy([firewall({ source_tags: ['web'] })], configured({ ...tags, ...ranges }))).toEqual(both);
  expect(heldBy([firewall({ source_tags: ['web'] })], { configuration: { root_module: {} } })).toEqual(both);
});
