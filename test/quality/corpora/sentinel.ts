import type { JsonValue } from '../../../policy/contracts/canonical-json';
import { runRule } from '../../policy/rules/support/run-pack-rule';
import { corpus } from '../../source-tools/sql/rules/support/corpus';
import { labelOf, verdictOf, type Measure } from '../judged';

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

const FILE = 'terraform-sentinel-cases.json';

export const sentinel: Measure = {
  name: 'sentinel',
  file: FILE,
  own: false,
  judge: async (folder) => {
    const cases = corpus<readonly SentinelCase[]>(FILE, folder);
    if (cases === null) return null;
    const judged = cases.flatMap(({ id, policy, expected, resource_changes }) => {
      const covering = COVERED[policy];
      if (covering === undefined) return [];
      const configuration = { root_module: {} };
      const raw = JSON.stringify({ format_version: '1.2', resource_changes, configuration });
      const { rule, config = {} } = covering;
      const { status, errorClass, reason } = runRule(rule, raw, { config });
      if (errorClass !== undefined) throw new Error(`${id}: ${reason}`);
      return [{ id, expected: labelOf(expected), actual: verdictOf(status !== 'ALLOW'), what: `${rule}: ${reason}` }];
    });
    return { judged, notCompared: cases.length - judged.length };
  },
};
