import { planOf, type ExampleResource } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { fires } from '../../../policy/rules/support/run-pack-rule';
import { create, run } from './run-unlisted';

/** A configuration that does not show the blocks that `dynamic` generates. */
const configured = (address: string, expressions: object, more: readonly object[] = []) => ({
  configuration: { root_module: { resources: [{ address, mode: 'managed', expressions }, ...more] } },
});

describe('an unknown block that the configuration does not show', () => {
  // Terraform shows such a block of a new resource only if `dynamic` generates it: the provider does not compute it.
  it.each([
    ['google_storage_bucket.b', 'logging'],
    ['google_storage_bucket.b', 'encryption'],
    ['google_storage_bucket.b', 'cors'],
    ['google_storage_bucket.b', 'autoclass'],
    ['google_pubsub_topic.t', 'ingestion_data_source_settings'],
    ['google_cloud_tasks_queue.q', 'stackdriver_logging_config'],
    ['google_compute_firewall.f', 'allow'],
    ['aws_acm_certificate.c', 'validation_option'],
  ])('asks if the provider does not compute it: %s with %s', (address, block) => {
    const resource = (unknown: object): ExampleResource => create(address, { name: 'a' }, { after_unknown: unknown });
    const isAsked = (unknown: object) => run(resource(unknown), {}, configured(address, { name: {} })).status;
    expect(isAsked({ id: true })).toBe('ALLOW');
    expect(isAsked({ id: true, [block]: true })).toBe('BLOCK');
  });
});

describe('rules that dynamic generates in a security group beside separate rules', () => {
  const SEPARATE = {
    address: 'aws_security_group_rule.r',
    mode: 'managed',
    type: 'aws_security_group_rule',
    expressions: { security_group_id: { references: ['aws_security_group.g.id', 'aws_security_group.g'] } },
  };
  const RULES = ['terraform_open_ingress', 'terraform_unknown_after_apply', 'terraform_unlisted_change'];
  const heldBy = (after: object, after_unknown: object): readonly string[] => {
    const group = create('aws_security_group.g', { name: 'g', ...after }, { after_unknown });
    const plan = planOf([group], configured('aws_security_group.g', { name: {} }, [SEPARATE]));
    return RULES.filter((name) => fires(name, plan));
  };
  // As Terraform 1.11 writes them: what is not known is missing in `after`, and the list in the mask has one item for each block.
  const rest = { ipv6_cidr_blocks: [], prefix_list_ids: [], security_groups: [] };

  it('ask if their sources are not known before apply', () => {
    const block = { description: '', from_port: 22, to_port: 22, protocol: 'tcp', self: false, ...rest };
    expect(heldBy({ ingress: [block] }, { ingress: [{ cidr_blocks: true, ...rest }] })).toEqual(RULES);
  });

  it('ask if it is not known whether they exist', () => {
    const hidden = { cidr_blocks: true, from_port: true, protocol: true, to_port: true, ...rest };
    expect(heldBy({ ingress: [{ description: '', self: false, ...rest }] }, { ingress: [hidden] })).toEqual(RULES);
  });

  it('are absent if the complete list is not known', () => {
    expect(heldBy({}, { ingress: true, egress: true, id: true })).toEqual([]);
  });
});
