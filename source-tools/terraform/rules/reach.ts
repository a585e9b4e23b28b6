import { isJsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import type { Hit } from '../../../policy/rules/hit';
import { wordList } from '../../../policy/text/word-list';
import { atResource, coversAny, planOf, terraformRule, undecided } from './define-terraform-rule';
import type { TerraformResource } from '../facts/terraform-facts';
import { containsTrue } from '../facts/masks';
import {
  createdOrChanged,
  DESCRIPTIVE,
  isUnchanged,
  member,
  stepsOf,
  textsOf,
  valueAt,
  type Path,
  type Value,
} from './values';

/**
 * Resources that connect a network with another one, share a resource with another account, or admit the identities of another
 * provider.
 */
const CONNECTIONS = wordList(`
  *_peering *_peering_* *_customer_gateway *_vpn_connection *_vpn_tunnel *_vpn_gateway *_local_network_gateway
  *_tunnel *_tunnel_cloudflared aws_dx_* aws_ec2_transit_gateway_vpc_attachment*
  aws_ec2_client_vpn_endpoint aws_vpc_endpoint_service_allowed_principal aws_ram_principal_association
  aws_snapshot_create_volume_permission aws_ami_launch_permission aws_redshift_endpoint_authorization
  aws_redshift_data_share_authorization aws_cloudwatch_event_permission aws_iam_saml_provider
  aws_iam_openid_connect_provider aws_rolesanywhere_trust_anchor google_compute_shared_vpc_service_project
  google_network_connectivity_spoke azurerm_virtual_network_gateway_connection azurerm_virtual_hub_connection
  azurerm_lighthouse_* snowflake_share databricks_recipient tailscale_tailnet_key
`);

export const outsideConnection = terraformRule({
  name: 'terraform_outside_connection',
  logicRevision: 3,
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

/** Types of DNS records of any provider, such as `azurerm_dns_a_record`, and of what else says where a name points. */
const RECORD =
  /(?:^|_)(?:record|records|record_set|recordset|rrset)$|^(?:aws_route53domains_registered_domain|aws_route53_resolver_rule|google_dns_managed_zone)$/;
/** Members of a record that say nothing about where its name points. */
const NO_POINTERS = new Set([
  ...DESCRIPTIVE,
  ...wordList(`
    ttl comment comments note notes etag meta metadata modified_on created_on updated_at created_at comment_modified_on
    tags_modified_on fqdn hostname proxiable health_check_id allow_overwrite force_destroy renewal transfer_lock auto_renew
  `),
]);
/** Record types that hand over a zone or the mail of a domain. */
const DELEGATING = new Set(['NS', 'MX', 'CAA', 'DS']);

/** The type of a record: a member, or part of the type of the resource, as in `azurerm_dns_mx_record`. */
function recordType(r: TerraformResource): Value {
  const [, named] = /_(ns|mx|caa|ds)_record(?:_set)?$/.exec(r.type) ?? [];
  return named === undefined ? valueAt(r, ['type']) : { state: 'known', value: named };
}

/** The members of a record that an update changes and that may say where its name points. */
function changedPointers(r: TerraformResource): readonly string[] {
  const names = new Set([r.before, r.beforeSensitive, r.after].flatMap((value) => stepsOf(value).map(String)));
  return [...names].filter((name) => !NO_POINTERS.has(name) && !hasNoValue(r, name) && !isUnchanged(r, [name]));
}

export const dnsChanged = terraformRule({
  name: 'terraform_dns_changed',
  logicRevision: 4,
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
      .filter((r) => RECORD.test(r.type))
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
        return changedPointers(r).map((name) => atResource(r, 'an existing name points to another place', [name]));
      }),
});

/** Whether the member has no value, neither before nor after the change, as far as the plan shows it. */
function hasNoValue(r: TerraformResource, name: string): boolean {
  const isEmpty = (value: JsonValue): boolean => value === null || (Array.isArray(value) && value.length === 0);
  return (
    isEmpty(member(r.before, name)) && !containsTrue(member(r.beforeSensitive, name)) && isEmpty(member(r.after, name))
  );
}

const isFalse = (value: Value): boolean => value.state === 'known' && value.value === false;

/** Paths of a program that a new machine or an agent on it runs as the administrator. */
const SCRIPTS: readonly Path[] = [
  ...wordList('user_data user_data_base64 metadata_startup_script custom_data startup_script').map((name) => [name]),
  ['os_profile', 0, 'custom_data'],
  ['os_profile', 0, 'user_data'],
];
const SCRIPT_NAMES = new Set(SCRIPTS.map(([name]) => String(name)));
/** Keys of metadata that contain a program, or the URL of one. */
const METADATA_KEY = /(?:^|-)script(?:-|$)|^user-?data$|^gce-container-declaration$/i;
/** What a start script does if it takes its program, or its orders, from elsewhere. */
const FETCHES =
  /\b(?:curl|wget|nc|ncat|netcat|socat|telnet|ftp|sftp|scp|aria2c|lynx|Invoke-WebRequest|Invoke-RestMethod|Invoke-Expression|Start-BitsTransfer|DownloadString|DownloadFile|iwr|irm|iex|certutil|bitsadmin|urllib|urlopen|urlretrieve)\b|\bgit\b[^\n]{0,100}\bclone\b|\b(?:aws\s+s3|gsutil)\b[^\n]{0,100}\b(?:cp|sync)\b|\b(?:docker|podman|ctr|nerdctl)\s+run\b|#include\b|\/dev\/(?:tcp|udp)\/|\bbase64\s+(?:-d|--decode)\b|\beval\b|\bmkfifo\b|\bnpx\s|\b(?:pip3?|npm|rpm|yum|dnf|apt|apt-get|gem)\b[^\n]{0,100}\b(?:https?|git|s3):\/\//i;
/** A plain request to this machine or to the metadata service of its cloud, whose answer is not passed on to a program. */
const LOCAL_REQUEST =
  /\bcurl(?:\s+(?:-[sSfLk]+|-X\s*PUT|-H\s+["']X-aws-ec2-metadata-token(?:-ttl-seconds)?: ?[\w$]+["']|["']?http:\/\/(?:localhost|127\.0\.0\.1|169\.254\.169\.254)(?::\d+)?(?:\/[\w./-]*)?["']?))+(?=\s*(?:[;)\n]|&&|\|\||$))/g;
/** A program that is downloaded and run in one command: a finding anywhere, also in the command of a container. */
const FETCHED_AND_RUN =
  /\b(?:curl|wget)\b[^\n]{0,200}\|\s*(?:sudo\s+)?(?:(?:\/usr)?\/bin\/)?(?:env\s+)?(?:(?:ba|da|z|k|a)?sh|python3?|perl|node|ruby)\b|\b(?:ba)?sh\s+(?:-c\s+)?["']?(?:\$|<)\(\s*(?:curl|wget)\b/;
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
  logicRevision: 5,
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
      ...fetchHits(r, r.after, []),
    ]),
});

/** Hits for texts anywhere in a resource that download a program and run it. */
function fetchHits(r: TerraformResource, value: JsonValue, path: Path): readonly Hit[] {
  const [name] = path;
  if (name !== undefined && (DESCRIPTIVE.has(String(name)) || SCRIPT_NAMES.has(String(name)))) return [];
  if (typeof value === 'object' && value !== null)
    return stepsOf(value).flatMap((step) => fetchHits(r, member(value, step), [...path, step]));
  const runs = typeof value === 'string' && (FETCHED_AND_RUN.test(value) || FETCHED_AND_RUN.test(decoded(value)));
  return runs && !isUnchanged(r, path) ? [atResource(r, 'downloads a program and runs it', path)] : [];
}

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
      const why =
        name.endsWith('-url') || /^(?:https?|gs|s3):\/\/\S+$/.test(text) ? 'is fetched from a URL' : whyRisky(text);
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
  return [text, plain].some((script) => FETCHES.test(script.replaceAll(LOCAL_REQUEST, '')))
    ? 'fetches a program or opens a connection'
    : null;
}

/** The texts that base64 encodes within a text, such as a part of a MIME document; without the NULs of UTF-16. */
function decoded(text: string): string {
  const parts = text.match(/(?:[A-Za-z0-9+/]{16,}={0,2}\s*)+/g) ?? [];
  return parts.map((part) => Buffer.from(part, 'base64').toString('latin1').replaceAll('\0', '')).join('\n');
}
