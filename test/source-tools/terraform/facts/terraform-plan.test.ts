import { extractTerraformPlanFacts } from '../../../../source-tools/terraform/facts/extract-terraform-facts';
import type { JsonValue } from '../../../../policy/contracts/canonical-json';
import { terraformPlanPack } from '../../../../source-tools/terraform/rules';
import { planOf } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import type { TerraformPlanFacts } from '../../../../source-tools/terraform/facts/terraform-facts';
import { runRule } from '../../../policy/rules/support/run-pack-rule';
import { withCorpus } from '../../sql/rules/support/corpus';

interface PlanCase {
  readonly id: string;
  readonly encoding: string;
  readonly format_version?: string;
  readonly terraform_version?: string;
  readonly actions?: Readonly<Record<string, number>>;
  readonly resource_changes?: readonly JsonValue[];
}

/** The original bytes: UTF-16 with a byte order mark if the file was UTF-16. */
function bytesOf(c: PlanCase): Buffer {
  const { format_version, terraform_version, resource_changes } = c;
  if (resource_changes === undefined) return Buffer.from('{"format_version": "1.0"} trailing');
  const text = JSON.stringify({ format_version, terraform_version, resource_changes });
  return c.encoding === 'utf16le' ? Buffer.from(`\ufeff${text}`, 'utf16le') : Buffer.from(text);
}

withCorpus<readonly PlanCase[]>('terraform-plans.json', (cases) => {
  it.each(cases.map((c) => [c.id, c] as const))('reads %s with its actions, or refuses it', (_, c) => {
    const raw = bytesOf(c);
    const facts = extractTerraformPlanFacts(raw);
    if (c.encoding === 'utf16le') expect(facts).toMatchObject({ ok: false, code: 'utf16' });
    else if (c.resource_changes === undefined) expect(facts).toMatchObject({ ok: false, code: 'syntax_error' });
    else {
      expect(facts).toMatchObject({ ok: true });
      const counts: Record<string, number> = {};
      for (const r of (facts as TerraformPlanFacts).resources) {
        const name = r.action === 'replace' ? (r.destroyFirst ? 'delete+create' : 'create+delete') : r.action;
        counts[name] = (counts[name] ?? 0) + 1;
      }
      expect(counts).toEqual(c.actions);
    }
    for (const { implementation } of terraformPlanPack)
      expect(() => runRule(terraformPlanPack, implementation, raw)).not.toThrow();
  });
});

interface SentinelCase {
  readonly id: string;
  readonly policy: string;
  readonly expected: 'pass' | 'violation';
  readonly resource_changes: readonly JsonValue[];
}

const allowed = (type: string, attribute: string, bounds: object) => ({
  rule: 'terraform_allowed_values',
  config: { rules: [{ type, attribute, ...bounds }] },
});

/** Sentinel policies that one of our rules covers, with equivalent settings. No rule covers the others. */
const COVERED: Readonly<Record<string, { readonly rule: string; readonly config?: object }>> = {
  'aws/check-ec2-environment-tag': allowed('aws_instance', 'tags.Environment', {
    allow: ['dev', 'qa', 'prod'],
    required: true,
  }),
  'aws/enforce-mandatory-tags': {
    rule: 'terraform_required_tags',
    config: { tags: ['Name', 'ttl', 'owner'], types: ['aws_instance', 'aws_s3_bucket'] },
  },
  'gcp/enforce-mandatory-labels': {
    rule: 'terraform_required_tags',
    config: { tags: ['name', 'ttl', 'owner'], types: ['google_compute_instance'] },
  },
  'aws/protect-against-rds-instance-deletion': { rule: 'terraform_deletion_protection' },
  'aws/restrict-ingress-sg-rule-ssh': { rule: 'terraform_open_ingress', config: { ports: [22] } },
  'aws/restrict-ingress-sg-rule-rdp': { rule: 'terraform_open_ingress', config: { ports: [3389] } },
  'azure/restrict-inbound-source-address-prefixes': { rule: 'terraform_open_ingress', config: { except: [] } },
  'gcp/restrict-ingress-firewall-source-ranges': { rule: 'terraform_open_ingress', config: { except: [] } },
  'aws/restrict-egress-sg-rule-cidr-blocks': { rule: 'terraform_open_egress', config: { except: [] } },
  'azure/restrict-outbound-destination-address-prefixes': { rule: 'terraform_open_egress', config: { except: [] } },
  'gcp/restrict-egress-firewall-destination-ranges': { rule: 'terraform_open_egress', config: { except: [] } },
  'aws/restrict_s3_acl': { rule: 'terraform_public_access' },
  'aws/require-dns-support-for-vpcs': {
    rule: 'terraform_allowed_values',
    config: {
      rules: ['enable_dns_support', 'enable_dns_hostnames'].map((attribute) => ({
        type: 'aws_vpc',
        attribute,
        allow: [true],
        required: true,
      })),
    },
  },
  'aws/restrict-availability-zones': allowed('aws_instance', 'availability_zone', {
    allow: ['us-east-1a', 'us-east-1b', 'us-east-1c'],
  }),
  'aws/restrict-db-instance-engines': allowed('aws_db_instance', 'engine', { allow: ['mysql', 'postgres', 'mariadb'] }),
  'aws/restrict-ec2-instance-type': allowed('aws_instance', 'instance_type', {
    allow: ['t2.small', 't2.medium', 't2.large'],
  }),
  'aws/restrict-launch-configuration-instance-type': allowed('aws_launch_configuration', 'instance_type', {
    allow: ['t2.small', 't2.medium', 't2.large'],
  }),
  'gcp/restrict-gce-machine-type': allowed('google_compute_instance', 'machine_type', {
    allow: ['n1-standard-1', 'n1-standard-2', 'n1-standard-4'],
  }),
  'azure/restrict-vm-size': {
    rule: 'terraform_allowed_values',
    config: {
      rules: ['size', 'vm_size'].map((attribute) => ({
        type: 'azurerm_*virtual_machine',
        attribute,
        allow: ['Standard_A1', 'Standard_A2', 'Standard_D1_v2', 'Standard_D2_v2'],
      })),
    },
  },
  'cloud-agnostic/prevent-destruction-of-prohibited-resources': { rule: 'terraform_destroy' },
  'cloud-agnostic/prevent-tfe-provider-workspace-deletion': {
    rule: 'terraform_destroy',
    config: { types: ['tfe_workspace'] },
  },
};

withCorpus<readonly SentinelCase[]>('terraform-sentinel-cases.json', (cases) => {
  it('agrees with Sentinel on at least 90% of the cases of covered policies', () => {
    const judged = cases.flatMap((c) => {
      const claim = COVERED[c.policy];
      if (claim === undefined) return [];
      const raw = JSON.stringify({ format_version: '1.2', resource_changes: c.resource_changes });
      const { status, errorClass, reason } = runRule(
        terraformPlanPack,
        claim.rule,
        raw,
        claim.config === undefined ? {} : { config: claim.config },
      );
      const ours = errorClass !== undefined ? 'error' : status === 'ALLOW' ? 'pass' : 'violation';
      return [{ id: c.id, expected: c.expected, ours, reason }];
    });
    const disagreeing = judged.filter(({ ours, expected }) => ours !== expected);
    expect(judged.length).toBeGreaterThan(20);
    expect({ disagreeing, enough: disagreeing.length <= judged.length / 10 }).toMatchObject({ enough: true });
  });
});

describe('a plan', () => {
  it('does not pass sensitive values to rules', () => {
    const raw = planOf([
      {
        address: 'aws_db_instance.main',
        actions: ['create'],
        after: { password: 'hunter2-hunter2', tags: { a: 'b' } },
        after_sensitive: { password: true },
      },
    ]);
    const facts = extractTerraformPlanFacts(Buffer.from(raw));
    expect(facts.ok).toBe(true);
    expect(JSON.stringify(facts)).not.toContain('hunter2');
  });

  it('is blocked as undecidable if a value that a rule needs is unknown', () => {
    const after = { type: 'ingress', protocol: 'tcp', from_port: 22, to_port: 22 };
    const raw = planOf([
      { address: 'aws_security_group_rule.a', actions: ['create'], after, after_unknown: { cidr_blocks: true } },
    ]);
    expect(runRule(terraformPlanPack, 'terraform_open_ingress', raw)).toMatchObject({
      status: 'BLOCK',
      reason: expect.stringContaining('not known before apply'),
    });
  });

  it.each([
    ['a text plan', 'Terraform will perform the following actions:', 'syntax_error'],
    ['a state', '{"format_version": "1.0", "values": {}}', 'not_a_plan'],
    ['an unknown format', '{"format_version": "2.0"}', 'unknown_format'],
    ['an unknown action', planOf([{ address: 'a.b', actions: ['create', 'update'] }]), 'unknown_action'],
    ['a duplicate key', '{"format_version": "1.0", "format_version": "1.1"}', 'duplicate_key'],
    ['nesting that is too deep', `{"format_version": "1.0", "x": ${'['.repeat(300)}${']'.repeat(300)}}`, 'too_deep'],
    ['too many bytes', ' '.repeat(1024 * 1024 + 1), 'too_large'],
  ])('is refused as %s', (_, raw, code) => {
    expect(extractTerraformPlanFacts(Buffer.from(raw))).toMatchObject({ ok: false, code });
  });
});
