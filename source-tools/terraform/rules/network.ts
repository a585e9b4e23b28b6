import { z } from 'zod';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { memoizeByObject } from '../../../policy/text/memoize';
import type { Hit } from '../../../policy/rules/hit';
import { coverInternet } from './address-ranges';
import { atResource, planOf, terraformRule, undecided } from './define-terraform-rule';
import { otherRanges } from './other-firewalls';
import { INTERNET_TYPES } from './public-access';
import type { TerraformResource } from '../facts/terraform-facts';
import {
  admitsOnlyTags,
  createdOrChanged,
  DESCRIPTIVE,
  hiddenBelow,
  hidesBelow,
  memberAt,
  textsOf,
  valueAt,
  type Path,
} from './values';
import { wordList } from '../../../policy/text/word-list';

/** One firewall rule that allows traffic, in a form common to all providers. */
interface Opening {
  readonly path: Path;
  /** Path of the block, or of the resource, that contains the rule. */
  readonly rule: Path;
  /** Paths of the address ranges; at least one of them is set. */
  readonly ranges: readonly Path[];
  /** Whether the rule names no addresses, and the service then admits all of them. */
  readonly everyone: boolean;
  readonly ports: readonly PortRange[];
  /** Why the plan hides a value that the check needs; null if it hides none. */
  readonly hidden: 'unknown' | 'sensitive' | null;
}

type PortRange = readonly [from: number, to: number];
const ALL: PortRange = [0, 65535];
/** ICMP has no ports, so it cannot be used to log in. */
const PING: PortRange = [-1, -1];
const isPing = (protocol: JsonValue): boolean =>
  ['icmp', 'icmpv6', 'ipv6-icmp', '1', '58'].includes(String(protocol ?? '').toLowerCase());

function portRange(from: JsonValue, to: JsonValue): PortRange {
  const [a, b] = [Number(from ?? Number.NaN), Number(to ?? Number.NaN)];
  return Number.isInteger(a) && Number.isInteger(b) && a >= 0 && b >= a && !(a === 0 && b === 0) ? [a, b] : ALL;
}

/** `22`, `1000-2000`, `*`. */
function portsOfText(text: string): PortRange {
  if (text.includes('*')) return ALL;
  const [from = '', to = from] = text.split('-');
  return portRange(from, to);
}

type Direction = 'ingress' | 'egress';

/** The types whose rules are read exactly. Of any other type, only visible address ranges are read. */
const FIREWALL_TYPES = new Set(
  wordList(`
  aws_security_group aws_default_security_group aws_security_group_rule aws_vpc_security_group_ingress_rule
  aws_vpc_security_group_egress_rule aws_network_acl aws_default_network_acl aws_network_acl_rule aws_db_security_group
  aws_redshift_security_group aws_ec2_managed_prefix_list aws_ec2_managed_prefix_list_entry
  aws_lightsail_instance_public_ports google_compute_firewall google_compute_firewall_policy_rule
  google_compute_network_firewall_policy_rule google_compute_region_network_firewall_policy_rule
  azurerm_network_security_rule azurerm_network_security_group
`),
);

/** Reads the firewall rules of one resource. */
interface Reader {
  readonly r: TerraformResource;
  /** The value of a member, or null if it is absent or hidden. */
  readonly at: (path: Path, name: string) => JsonValue;
  /** Whether the member has this value, ignoring case; true if the plan hides it. */
  readonly canBe: (path: Path, name: string, value: string, fallback?: string) => boolean;
  /** The ports of members that name them as text; all ports if they name none or the plan hides one. */
  readonly portsOf: (path: Path, names: readonly string[], none?: PortRange) => readonly PortRange[];
  readonly opening: (path: Path, names: readonly string[], ports: readonly PortRange[]) => Opening;
  /** Whether none of the members has a value or may get one. */
  readonly namesNone: (path: Path, names: readonly string[]) => boolean;
  /** The openings of each block of this name. */
  readonly blocks: (path: Path, name: string, each: (path: Path) => readonly Opening[]) => readonly Opening[];
}

const isEmptyList = (value: JsonValue): boolean => Array.isArray(value) && value.length === 0;

function readerOf(r: TerraformResource): Reader {
  const at = (path: Path, name: string): JsonValue => {
    const value = valueAt(r, [...path, name]);
    return value.state === 'known' ? value.value : null;
  };
  return {
    r,
    at,
    canBe: (path, name, value, fallback = '') =>
      valueAt(r, [...path, name]).state === 'hidden' || String(at(path, name) ?? fallback).toLowerCase() === value,
    portsOf: (path, names, none = ALL) => {
      if (names.some((name) => hidesBelow(r, [...path, name]))) return [ALL];
      const ports = names.flatMap((name) => textsOf(at(path, name)).map(portsOfText));
      return ports.length === 0 ? [none] : ports;
    },
    opening: (path, names, ports) => {
      const ranges = names.map((name) => [...path, name]);
      const hidden = ranges.map((range) => hiddenBelow(r, range)).find((why) => why !== null) ?? null;
      return { path, rule: path, ranges, everyone: false, ports, hidden };
    },
    namesNone: (path, names) =>
      names.every((name) => {
        const value = valueAt(r, [...path, name]);
        return value.state === 'absent' || (value.state === 'known' && isEmptyList(value.value));
      }),
    blocks: (path, name, each) => {
      const list = [...path, name];
      const value = valueAt(r, list);
      if (value.state === 'hidden') {
        // An unknown block of a new group is absent if its rules are separate resources.
        const isNew = r.action === 'create' || r.action === 'replace';
        if (value.why === 'unknown' && isNew && r.separateRules) return [];
        return [{ path: list, rule: list, ranges: [], everyone: false, ports: [ALL], hidden: value.why }];
      }
      if (value.state === 'absent') return [];
      return Array.isArray(value.value) ? value.value.flatMap((_, i) => each([...list, i])) : each(list);
    },
  };
}

function openingsOf(r: TerraformResource, direction: Direction): readonly Opening[] {
  if (!FIREWALL_TYPES.has(r.type)) return INTERNET_TYPES.has(r.type) ? [] : otherOpenings(r, direction);
  const reader = readerOf(r);
  switch (r.type) {
    case 'google_compute_firewall':
      return googleOpenings(reader, direction);
    case 'google_compute_firewall_policy_rule':
    case 'google_compute_network_firewall_policy_rule':
    case 'google_compute_region_network_firewall_policy_rule':
      return googlePolicyOpenings(reader, direction);
    case 'azurerm_network_security_rule':
      return azureOpenings(reader, direction, []);
    case 'azurerm_network_security_group':
      return reader.blocks([], 'security_rule', (path) => azureOpenings(reader, direction, path));
    default:
      return awsOpenings(reader, direction);
  }
}

/** Openings of a resource whose type is not known, such as a firewall of a smaller provider. */
function otherOpenings(r: TerraformResource, direction: Direction): readonly Opening[] {
  return otherRanges(r)
    .filter(({ egress }) => egress === (direction === 'egress'))
    .map(({ path, rule, ports }) => ({
      path,
      rule,
      ranges: [path],
      everyone: false,
      ports: ports?.map((port): PortRange => [port, port]) ?? [ALL],
      hidden: null,
    }));
}

/** Protocols with ports. AWS ignores the ports of a rule for any other protocol. */
const WITH_PORTS = new Set(['tcp', '6', 'udp', '17']);

function awsPorts({ r, at }: Reader, path: Path): readonly PortRange[] {
  if (['protocol', 'ip_protocol'].some((name) => hidesBelow(r, [...path, name]))) return [ALL];
  const protocol = String(at(path, 'protocol') ?? at(path, 'ip_protocol') ?? '').toLowerCase();
  if (isPing(protocol)) return [PING];
  return [WITH_PORTS.has(protocol) ? portRange(at(path, 'from_port'), at(path, 'to_port')) : ALL];
}

const CIDRS = ['cidr_blocks', 'ipv6_cidr_blocks'];
const ACL_CIDRS = ['cidr_block', 'ipv6_cidr_block'];
const LIGHTSAIL_CIDRS = ['cidrs', 'ipv6_cidrs'];

function awsOpenings(reader: Reader, direction: Direction): readonly Opening[] {
  const { r, canBe, opening, namesNone, blocks } = reader;
  const one = (path: Path, names: readonly string[]): Opening => opening(path, names, awsPorts(reader, path));
  switch (r.type) {
    case 'aws_security_group':
    case 'aws_default_security_group':
      return blocks([], direction, (path) => [one(path, CIDRS)]);
    case 'aws_security_group_rule':
      return canBe([], 'type', direction) ? [one([], CIDRS)] : [];
    case 'aws_vpc_security_group_ingress_rule':
    case 'aws_vpc_security_group_egress_rule':
      return r.type.includes(direction) ? [one([], ['cidr_ipv4', 'cidr_ipv6'])] : [];
    case 'aws_network_acl':
    case 'aws_default_network_acl':
      // The default list admits everything before Terraform manages it.
      if (r.type === 'aws_default_network_acl' && r.action === 'create') return [];
      return blocks([], direction, (path) => (canBe(path, 'action', 'allow') ? [one(path, ACL_CIDRS)] : []));
    case 'aws_network_acl_rule':
      if (!canBe([], 'egress', String(direction === 'egress'), 'false')) return [];
      return canBe([], 'rule_action', 'allow') ? [one([], ACL_CIDRS)] : [];
  }
  if (direction === 'egress') return [];
  switch (r.type) {
    case 'aws_ec2_managed_prefix_list':
      return blocks([], 'entry', (path) => [opening(path, ['cidr'], [ALL])]);
    case 'aws_ec2_managed_prefix_list_entry':
      return [opening([], ['cidr'], [ALL])];
    case 'aws_lightsail_instance_public_ports':
      return blocks([], 'port_info', (path) => [
        { ...one(path, LIGHTSAIL_CIDRS), everyone: namesNone(path, [...LIGHTSAIL_CIDRS, 'cidr_list_aliases']) },
      ]);
    default:
      // aws_db_security_group and aws_redshift_security_group have no ports.
      return blocks([], 'ingress', (path) => [opening(path, ['cidr'], [ALL])]);
  }
}

function googleOpenings(reader: Reader, direction: Direction): readonly Opening[] {
  const { r, at, canBe, portsOf, opening, namesNone, blocks } = reader;
  if (!canBe([], 'direction', direction, 'ingress') || at([], 'disabled') === true) return [];
  if (direction === 'ingress' && admitsOnlyTags(r)) return [];
  const name = direction === 'ingress' ? 'source_ranges' : 'destination_ranges';
  const others = direction === 'ingress' ? ['source_tags', 'source_service_accounts'] : ['source_ranges'];
  return blocks([], 'allow', (path) => {
    const ports = portsOf(path, ['ports'], isPing(at(path, 'protocol')) ? PING : ALL);
    return [{ ...opening([], [name], ports), path: [name], everyone: namesNone([], [name, ...others]) }];
  });
}

function googlePolicyOpenings(reader: Reader, direction: Direction): readonly Opening[] {
  const { at, canBe, portsOf, opening, blocks } = reader;
  if (!canBe([], 'direction', direction) || !canBe([], 'action', 'allow') || at([], 'disabled') === true) return [];
  const name = direction === 'ingress' ? 'src_ip_ranges' : 'dest_ip_ranges';
  return blocks([], 'match', (match) =>
    blocks(match, 'layer4_configs', (path) => {
      const ports = portsOf(path, ['ports'], isPing(at(path, 'ip_protocol')) ? PING : ALL);
      return [{ ...opening(match, [name], ports), rule: [] }];
    }),
  );
}

function azureOpenings({ at, canBe, portsOf, opening }: Reader, direction: Direction, path: Path): readonly Opening[] {
  if (!canBe(path, 'direction', direction === 'ingress' ? 'inbound' : 'outbound')) return [];
  if (!canBe(path, 'access', 'allow')) return [];
  const prefix = direction === 'ingress' ? 'source_address_prefix' : 'destination_address_prefix';
  const isIcmp = isPing(at(path, 'protocol'));
  const ports = isIcmp ? [PING] : portsOf(path, ['destination_port_range', 'destination_port_ranges']);
  return [opening(path, [prefix, `${prefix}es`], ports)];
}

/** The text of a firewall rule without what only describes it. */
const ruleText = memoizeByObject((rule: JsonObject): string =>
  canonicalJson(Object.fromEntries(Object.entries(rule).filter(([name]) => !DESCRIPTIVE.has(name)))),
);
const ruleTexts = memoizeByObject(
  (rules: readonly JsonValue[]): ReadonlySet<string> =>
    new Set(rules.flatMap((rule) => (isJsonObject(rule) ? [ruleText(rule)] : []))),
);

/** Whether an update leaves a firewall rule as it was, apart from its position and what only describes it. */
function isOldRule(r: TerraformResource, path: Path): boolean {
  const after = memberAt(r.after, path);
  if (r.action !== 'update' || !isJsonObject(after) || hidesBelow(r, path)) return false;
  if (path.length === 0) return isJsonObject(r.before) && ruleText(r.before) === ruleText(after);
  const before = memberAt(r.before, path.slice(0, -1));
  return Array.isArray(before) && ruleTexts(before as readonly JsonValue[]).has(ruleText(after));
}

/** Whether the address ranges of a list cover the internet. Several rules can share one list. */
const listCoversInternet = memoizeByObject((list: readonly JsonValue[]) => coverInternet(textsOf(list)));

function opensTo(value: JsonValue): boolean {
  return Array.isArray(value) ? listCoversInternet(value as readonly JsonValue[]) : coverInternet(textsOf(value));
}

const Ports = z.array(z.int().min(0).max(65535)).max(200);

function find(
  resources: readonly TerraformResource[],
  direction: Direction,
  concerns: (range: PortRange) => boolean,
): readonly Hit[] {
  return createdOrChanged(resources).flatMap((r) =>
    openingsOf(r, direction).flatMap((opening): readonly Hit[] => {
      if (!opening.ports.some(concerns) || isOldRule(r, opening.rule)) return [];
      const open = opening.ranges.filter((path) => {
        const value = valueAt(r, path);
        return value.state === 'known' && opensTo(value.value);
      });
      if (open.length > 0 || opening.everyone) {
        const ports = opening.ports.map(portText);
        const way = direction === 'ingress' ? 'is open to the internet on' : 'may reach any address on';
        const paths = open.length > 0 ? open : [opening.rule];
        return paths.map((path) => atResource(r, `${way} ${ports.slice(0, 5).join(', ')}`, path));
      }
      if (opening.hidden === null) return [];
      const what = direction === 'ingress' ? 'the source of its traffic' : 'the destination of its traffic';
      return [atResource(r, undecided(what, opening.hidden), opening.path)];
    }),
  );
}

function portText([from, to]: PortRange): string {
  if (from === PING[0]) return 'ICMP';
  if (from === to) return `port ${from}`;
  return from === 0 && to === 65535 ? 'all ports' : `ports ${from} to ${to}`;
}

const RULE = { type: 'ingress', protocol: 'tcp', from_port: 22, to_port: 22 };

export const openIngress = terraformRule({
  name: 'terraform_open_ingress',
  logicRevision: 9,
  defaultLevel: 'confirm',
  why: 'Internet scanners find an open port within minutes.',
  config: z.strictObject({
    ports: Ports.nullable().default(null).describe('Ports to check; null for all.'),
    except: Ports.default([80, 443]).describe(
      'Ports that may be open to the internet, if the rule opens no other port.',
    ),
  }),
  examples: {
    bad: planOf([
      {
        address: 'aws_security_group_rule.ssh',
        actions: ['create'],
        after: { ...RULE, cidr_blocks: ['0.0.0.0/1', '128.0.0.0/1'] },
      },
    ]),
    good: planOf([
      { address: 'aws_security_group_rule.ssh', actions: ['create'], after: { ...RULE, cidr_blocks: ['10.0.0.0/8'] } },
    ]),
  },
  find: ({ resources }, { ports, except }) =>
    find(resources, 'ingress', ([from, to]) => {
      if (ports !== null) return ports.some((port) => port >= from && port <= to);
      return isMore(from, to, except);
    }),
});

export const openEgress = terraformRule({
  name: 'terraform_open_egress',
  logicRevision: 9,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'A resource with unrestricted egress can exfiltrate data.',
  config: z.strictObject({
    except: Ports.default([443]).describe(
      'Ports on which any address may be reached, if the rule opens no other port.',
    ),
  }),
  examples: {
    bad: planOf([
      {
        address: 'aws_security_group_rule.out',
        actions: ['create'],
        after: { ...RULE, type: 'egress', protocol: '-1', cidr_blocks: ['0.0.0.0/0'] },
      },
    ]),
    good: planOf([
      {
        address: 'aws_security_group_rule.out',
        actions: ['create'],
        after: { ...RULE, type: 'egress', cidr_blocks: ['10.0.0.0/8'] },
      },
    ]),
  },
  find: ({ resources }, { except }) => find(resources, 'egress', ([from, to]) => isMore(from, to, except)),
});

/** Whether the range opens more than one excepted port. ICMP counts only if no port is excepted. */
function isMore(from: number, to: number, except: readonly number[]): boolean {
  return from === PING[0] ? except.length === 0 : !(from === to && except.includes(from));
}
