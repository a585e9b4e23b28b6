import { isJsonObject } from '../../../policy/contracts/canonical-json';
import type { Hit } from '../../../policy/rules/rule-maker';
import { wordList } from '../../../policy/text/word-list';
import { atResource, coversAny, planOf, terraformRule, undecided } from './define-terraform-rule';
import type { TerraformResource } from '../facts/terraform-facts';
import { containsTrue } from '../facts/masks';
import { createdOrChanged, isUnchanged, member, textsOf, valueAt, type Path, type Value } from './values';

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
  'aws_route53domains_registered_domain',
];
const POINTERS = ['records', 'alias', 'rrdatas', 'record', 'content', 'value', 'target_resource_id', 'name_server'];
/** Record types that hand over a zone or the mail of a domain. */
const DELEGATING = new Set(['NS', 'MX', 'CAA', 'DS']);

/** The type of a record: a member, or part of the type of the resource, as in `azurerm_dns_mx_record`. */
function recordType(r: TerraformResource): Value {
  const [, named] = /^azurerm_dns_([a-z]+)_record$/.exec(r.type) ?? [];
  return named === undefined ? valueAt(r, ['type']) : { state: 'known', value: named };
}

export const dnsChanged = terraformRule({
  name: 'terraform_dns_changed',
  logicRevision: 2,
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
        const type = recordType(r);
        if (type.state === 'hidden') return [atResource(r, undecided('its type', type.why))];
        if (type.state === 'known' && DELEGATING.has(String(type.value).toUpperCase()))
          return [atResource(r, `writes a ${String(type.value).toUpperCase()} record`)];
        if (r.action === 'create') {
          const overwrites = valueAt(r, ['allow_overwrite']);
          const isUnset = r.leftToProvider.includes('allow_overwrite');
          if (overwrites.state === 'absent' || isUnset || isFalse(overwrites)) return [];
          return [atResource(r, 'may overwrite an existing record', ['allow_overwrite'])];
        }
        return POINTERS.filter((name) => isSet(r, name) && !isUnchanged(r, [name])).map((name) =>
          atResource(r, 'an existing name points to another place', [name]),
        );
      }),
});

/** Whether the member had a value before the change, or one that the plan hides. */
function isSet(r: TerraformResource, name: string): boolean {
  if (containsTrue(member(r.beforeSensitive, name))) return true;
  const value = member(r.before, name);
  return value !== null && !(Array.isArray(value) && value.length === 0);
}

const isFalse = (value: Value): boolean => value.state === 'known' && value.value === false;

/** Paths of a program that a new machine or an agent on it runs as the administrator. */
const SCRIPTS: readonly Path[] = [
  ...wordList('user_data user_data_base64 metadata_startup_script custom_data startup_script').map((name) => [name]),
  ['os_profile', 0, 'custom_data'],
  ['os_profile', 0, 'user_data'],
];
/** Keys of metadata that contain a program, or the URL of one. */
const METADATA_KEY = /(?:^|-)script(?:-|$)|^user-?data$|^gce-container-declaration$/i;
/** What a start script does if it takes its program, or its orders, from elsewhere. */
const FETCHES =
  /\b(?:curl|wget|nc|ncat|netcat|socat|telnet|ftp|sftp|scp|aria2c|lynx|Invoke-WebRequest|Invoke-RestMethod|Invoke-Expression|Start-BitsTransfer|DownloadString|DownloadFile|iwr|irm|iex|certutil|bitsadmin|urllib|urlopen|urlretrieve)\b|\bgit\b[^\n]{0,100}\bclone\b|\b(?:aws\s+s3|gsutil)\b[^\n]{0,100}\b(?:cp|sync)\b|\b(?:docker|podman|ctr|nerdctl)\s+run\b|#include\b|\/dev\/(?:tcp|udp)\/|\bbase64\s+(?:-d|--decode)\b|\beval\b|\bmkfifo\b/i;
/** Resources that run commands on machines that already exist. */
const REMOTE = [
  'aws_ssm_association',
  'aws_ssm_document',
  'azurerm_virtual_machine_run_command',
  'azurerm_virtual_machine_extension',
  'azurerm_virtual_machine_scale_set_extension',
  'azurerm_arc_machine_extension',
  'google_os_config_os_policy_assignment',
  'azurerm_automation_runbook',
];

/** Resources whose creation runs a program. */
const PROGRAMS = ['shell_script', 'aws_lambda_invocation', 'ansible_playbook', 'ssh_resource'];

export const remoteScript = terraformRule({
  name: 'terraform_remote_script',
  logicRevision: 3,
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
      ...(PROGRAMS.includes(r.type) ? [atResource(r, 'runs a program')] : []),
      ...postrenderHits(r),
      ...scriptHits(r),
    ]),
});

function scriptHits(r: TerraformResource): readonly Hit[] {
  return [...SCRIPTS, ...metadataPaths(r)].flatMap((path): Hit[] => {
    const value = valueAt(r, path);
    if (value.state === 'absent' || isUnchanged(r, path)) return [];
    const name = path.join('.');
    // An unset start script of a new machine is also unknown, but the configuration shows that it is not set.
    const isUnset = r.leftToProvider.includes(String(path[0]));
    if (value.state === 'hidden')
      return value.why === 'unknown' && isUnset ? [] : [atResource(r, undecided(name, value.why))];
    return textsOf(value.value).flatMap((text) => {
      const why = name.endsWith('-url') ? 'is fetched from a URL' : whyRisky(text);
      return why === null ? [] : [atResource(r, `${name} ${why}`, path)];
    });
  });
}

/** Hits for a program of this machine that changes what a Helm chart installs. */
function postrenderHits(r: TerraformResource): readonly Hit[] {
  if (r.type !== 'helm_release') return [];
  const program = valueAt(r, ['postrender']);
  if (program.state === 'absent' || isUnchanged(r, ['postrender'])) return [];
  if (program.state === 'hidden') return [atResource(r, undecided('its postrender', program.why))];
  return Object.keys(program.value as object).length === 0 ? [] : [atResource(r, 'runs a program', ['postrender'])];
}

/** The members of metadata that contain a program; the metadata itself if the plan hides it. */
function metadataPaths(r: TerraformResource): readonly Path[] {
  if (/^google_compute_(?:project|instance)_metadata_item$|^google_compute_instance_metadata$/.test(r.type)) {
    const key = valueAt(r, ['key']);
    return key.state === 'known' && !METADATA_KEY.test(String(key.value)) ? [] : [['value']];
  }
  const metadata = valueAt(r, ['metadata']);
  if (metadata.state === 'hidden') return r.type.startsWith('google_compute_') ? [['metadata']] : [];
  if (metadata.state === 'absent' || !isJsonObject(metadata.value)) return [];
  const hidden = isJsonObject(r.unknown) ? member(r.unknown, 'metadata') : null;
  const names = [...Object.keys(metadata.value), ...(isJsonObject(hidden) ? Object.keys(hidden) : [])];
  return [...new Set(names)].filter((name) => METADATA_KEY.test(name)).map((name) => ['metadata', name]);
}

/** Why a start script needs a review of what it runs; null if it only runs what it contains. */
function whyRisky(text: string): string | null {
  if (/^[0-9a-f]{40}$/i.test(text)) return 'is shown only as a hash, so it cannot be checked';
  const plain = decoded(text);
  if (plain.startsWith('\u001f\u008b')) return 'is compressed, so it cannot be checked';
  return FETCHES.test(text) || FETCHES.test(plain) ? 'fetches a program or opens a connection' : null;
}

/** The text that base64 encodes; empty for any other text. */
function decoded(text: string): string {
  return /^[A-Za-z0-9+/\s]{16,}={0,2}\s*$/.test(text) ? Buffer.from(text, 'base64').toString('latin1') : '';
}
