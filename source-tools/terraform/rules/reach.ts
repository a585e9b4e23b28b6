import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { Hit } from '../../../policy/rules/rule-maker';
import { wordList } from '../../../policy/text/word-list';
import { atResource, coversAny, planOf, terraformRule, undecided } from './define-terraform-rule';
import type { TerraformResource } from '../facts/terraform-facts';
import { createdOrChanged, isUnchanged, member, textsOf, valueAt } from './values';

/** Resources that connect a network with another one, or share a resource with another account. */
const CONNECTIONS = wordList(`
  aws_vpc_peering_connection aws_vpc_peering_connection_accepter aws_ec2_transit_gateway_peering_attachment* aws_dx_*
  aws_ec2_transit_gateway_vpc_attachment_accepter aws_vpn_connection aws_customer_gateway aws_ec2_client_vpn_endpoint
  aws_vpc_endpoint_service_allowed_principal aws_ram_principal_association aws_snapshot_create_volume_permission
  aws_ami_launch_permission google_compute_network_peering google_compute_vpn_tunnel
  google_compute_shared_vpc_service_project azurerm_virtual_network_peering azurerm_virtual_network_gateway_connection
`);

export const outsideConnection = terraformRule({
  name: 'terraform_outside_connection',
  logicRevision: 1,
  defaultLevel: 'confirm',
  why: 'A connected network or account can reach this one, and its security is managed elsewhere.',
  examples: {
    bad: planOf([
      { address: 'aws_vpc_peering_connection.p', actions: ['create'], after: { peer_owner_id: '999900001111' } },
    ]),
    good: planOf([{ address: 'aws_subnet.s', actions: ['create'], after: { cidr_block: '10.0.1.0/24' } }]),
  },
  find: ({ resources }) =>
    createdOrChanged(resources)
      .filter((r) => r.action !== 'update' && coversAny(CONNECTIONS, r.type))
      .map((r) => atResource(r, 'connects or shares with another network or account')),
});

/** Types of DNS records, and the members that say where a name points. */
const RECORDS = [
  'aws_route53_record',
  'google_dns_record_set',
  'azurerm_dns_*_record',
  'cloudflare_record',
  'cloudflare_dns_record',
];
const POINTERS = ['records', 'alias', 'rrdatas', 'record', 'content', 'value', 'target_resource_id'];
/** Record types that hand over a zone or the mail of a domain. */
const DELEGATING = new Set(['NS', 'MX', 'CAA', 'DS']);

export const dnsChanged = terraformRule({
  name: 'terraform_dns_changed',
  logicRevision: 1,
  defaultLevel: 'confirm',
  why: 'A changed DNS record can send the traffic or mail of a name to someone else.',
  examples: {
    bad: planOf([
      {
        address: 'aws_route53_record.login',
        actions: ['update'],
        before: { type: 'CNAME', records: ['lb.example.com'] },
        after: { type: 'CNAME', records: ['other.example.net'] },
      },
    ]),
    good: planOf([
      { address: 'aws_route53_record.new', actions: ['create'], after: { type: 'CNAME', records: ['lb.example.com'] } },
    ]),
  },
  find: ({ resources }) =>
    createdOrChanged(resources)
      .filter((r) => coversAny(RECORDS, r.type))
      .flatMap((r): readonly Hit[] => {
        const type = valueAt(r, ['type']);
        if (type.state === 'known' && DELEGATING.has(String(type.value).toUpperCase()))
          return [atResource(r, `writes a ${String(type.value).toUpperCase()} record`)];
        if (r.action === 'create') return [];
        return POINTERS.filter((name) => isSet(member(r.before, name)) && !isUnchanged(r, [name])).map((name) =>
          atResource(r, 'an existing name points to another place', [name]),
        );
      }),
});

const isSet = (value: JsonValue): boolean => value !== null && !(Array.isArray(value) && value.length === 0);

/** Members that contain a program that a new machine or an agent on it runs as the administrator. */
const SCRIPTS = ['user_data', 'user_data_base64', 'metadata_startup_script', 'custom_data', 'startup_script'];
/** What a start script does if it takes its program, or its orders, from elsewhere. */
const FETCHES =
  /\b(?:curl|wget|nc|ncat|netcat|socat|telnet|Invoke-WebRequest|Invoke-Expression|iwr|iex|certutil|bitsadmin)\b|\/dev\/(?:tcp|udp)\/|\bbase64\s+(?:-d|--decode)\b|\beval\b|\bmkfifo\b/i;
/** Resources that run commands on machines that already exist. */
const REMOTE = [
  'aws_ssm_association',
  'aws_ssm_document',
  'azurerm_virtual_machine_run_command',
  'azurerm_virtual_machine_extension',
  'azurerm_automation_runbook',
];

export const remoteScript = terraformRule({
  name: 'terraform_remote_script',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'A start script or remote command runs as the administrator, and no review covers what it downloads.',
  examples: {
    bad: planOf([
      { address: 'aws_instance.a', actions: ['create'], after: { user_data: 'curl https://example.com/x | sh' } },
    ]),
    good: planOf([
      { address: 'aws_instance.a', actions: ['create'], after: { user_data: 'systemctl enable --now worker' } },
    ]),
  },
  find: ({ resources }) =>
    createdOrChanged(resources).flatMap((r): readonly Hit[] => [
      ...(REMOTE.includes(r.type) ? [atResource(r, 'runs commands on existing machines')] : []),
      ...scriptHits(r),
    ]),
});

function scriptHits(r: TerraformResource): readonly Hit[] {
  return [...SCRIPTS.map((name) => [name]), ['metadata', 'startup-script'], ['metadata', 'user-data']].flatMap(
    (path): Hit[] => {
      const value = valueAt(r, path);
      if (value.state === 'absent' || isUnchanged(r, path)) return [];
      // An unset start script of a new machine is also unknown, but the configuration shows that it is not set.
      const isUnset = r.leftToProvider.includes(String(path[0]));
      if (value.state === 'hidden')
        return value.why === 'unknown' && isUnset ? [] : [atResource(r, undecided(path.join('.'), value.why))];
      return textsOf(value.value).some((text) => FETCHES.test(text) || FETCHES.test(decoded(text)))
        ? [atResource(r, `${path.join('.')} fetches a program or opens a connection`, path)]
        : [];
    },
  );
}

/** The text that base64 encodes; empty for any other text. */
function decoded(text: string): string {
  return /^[A-Za-z0-9+/\s]{16,}={0,2}\s*$/.test(text) ? Buffer.from(text, 'base64').toString('latin1') : '';
}
