import { z } from 'zod';
import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { Hit } from '../../../policy/rules/rule-maker';
import { atResource, planOf, terraformRule, undecided } from './define-terraform-rule';
import type { TerraformResource } from '../facts/terraform-facts';
import {
  admitsOnlyTags,
  createdOrChanged,
  hiddenBelow,
  hidesBelow,
  isUnchanged,
  textsOf,
  valueAt,
  type Path,
} from './values';
import { wordList } from '../../../policy/text/word-list';

/** One firewall rule that allows traffic, in a form common to all providers. */
interface Opening {
  readonly path: Path;
  /** Paths of the address ranges; at least one of them is set. */
  readonly ranges: readonly Path[];
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

/** Whether an address range covers all or a large part of the internet: 0.0.0.0/1 and 128.0.0.0/1 together cover all of it. */
function isInternet(text: string): boolean {
  const lower = text.trim().toLowerCase();
  if (['*', 'any', 'internet', '0.0.0.0', '::'].includes(lower)) return true;
  const slash = lower.indexOf('/');
  if (slash === -1) return false;
  const bits = Number(lower.slice(slash + 1));
  if (!Number.isInteger(bits) || bits < 0) return false;
  return lower.includes(':') ? bits < 12 : bits < 6;
}

function portRange(from: JsonValue, to: JsonValue): PortRange {
  const [a, b] = [Number(from ?? Number.NaN), Number(to ?? Number.NaN)];
  return Number.isInteger(a) && Number.isInteger(b) && a >= 0 && b >= a && !(a === 0 && b === 0) ? [a, b] : ALL;
}

/** `22`, `1000-2000`, `*`. */
function portsOfText(text: string): PortRange {
  const [a, b] = text.split('-');
  return portRange(text.includes('*') ? null : (a ?? null), text.includes('*') ? null : (b ?? a ?? null));
}

type Direction = 'ingress' | 'egress';

/** The types that `openingsOf` reads; it returns nothing for any other. */
const FIREWALL_TYPES = new Set(
  wordList(`
  aws_security_group aws_default_security_group aws_security_group_rule aws_vpc_security_group_ingress_rule
  aws_vpc_security_group_egress_rule aws_network_acl_rule aws_db_security_group aws_redshift_security_group
  google_compute_firewall azurerm_network_security_rule azurerm_network_security_group
`),
);

/** Reads the firewall rules of one resource. */
interface Reader {
  readonly r: TerraformResource;
  /** The value of a member, or null if it is absent or hidden. */
  readonly at: (path: Path, name: string) => JsonValue;
  /** Whether the member has this value, ignoring case; true if the plan hides it. */
  readonly canBe: (path: Path, name: string, value: string, fallback?: string) => boolean;
  /** Texts of a member with ports; empty, which is all ports, if the plan hides one. */
  readonly portTexts: (path: Path, name: string) => readonly string[];
  readonly opening: (path: Path, names: readonly string[], ports: readonly PortRange[]) => Opening;
  /** The openings of each block of this name. */
  readonly blocks: (name: string, each: (path: Path) => readonly Opening[]) => readonly Opening[];
}

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
    portTexts: (path, name) => (hidesBelow(r, [...path, name]) ? [] : textsOf(at(path, name))),
    opening: (path, names, ports) => {
      const ranges = names.map((name) => [...path, name]);
      const hidden = ranges.map((range) => hiddenBelow(r, range)).find((why) => why !== null) ?? null;
      return { path, ranges, ports, hidden };
    },
    blocks: (name, each) => {
      const value = valueAt(r, [name]);
      if (value.state === 'hidden') {
        // An unknown block of a new group is absent if its rules are separate resources.
        const isNew = r.action === 'create' || r.action === 'replace';
        if (value.why === 'unknown' && isNew && r.separateRules) return [];
        return [{ path: [name], ranges: [], ports: [ALL], hidden: value.why }];
      }
      if (value.state === 'absent') return [];
      return Array.isArray(value.value) ? value.value.flatMap((_, i) => each([name, i])) : each([name]);
    },
  };
}

function openingsOf(r: TerraformResource, direction: Direction): readonly Opening[] {
  if (!FIREWALL_TYPES.has(r.type)) return [];
  const reader = readerOf(r);
  switch (r.type) {
    case 'google_compute_firewall':
      return googleOpenings(reader, direction);
    case 'azurerm_network_security_rule':
      return azureOpenings(reader, direction, []);
    case 'azurerm_network_security_group':
      return reader.blocks('security_rule', (path) => azureOpenings(reader, direction, path));
    default:
      return awsOpenings(reader, direction);
  }
}

function awsPorts({ at }: Reader, path: Path): readonly PortRange[] {
  const protocol = String(at(path, 'protocol') ?? at(path, 'ip_protocol') ?? '').toLowerCase();
  if (protocol === '-1' || protocol === 'all') return [ALL];
  if (isPing(protocol)) return [PING];
  return [portRange(at(path, 'from_port'), at(path, 'to_port'))];
}

const CIDRS = ['cidr_blocks', 'ipv6_cidr_blocks'];

function awsOpenings(reader: Reader, direction: Direction): readonly Opening[] {
  const { r, canBe, opening, blocks } = reader;
  const one = (path: Path, names: readonly string[]): Opening => opening(path, names, awsPorts(reader, path));
  switch (r.type) {
    case 'aws_security_group':
    case 'aws_default_security_group':
      return blocks(direction, (path) => [one(path, CIDRS)]);
    case 'aws_security_group_rule':
      return canBe([], 'type', direction) ? [one([], CIDRS)] : [];
    case 'aws_vpc_security_group_ingress_rule':
    case 'aws_vpc_security_group_egress_rule':
      return r.type.includes(direction) ? [one([], ['cidr_ipv4', 'cidr_ipv6'])] : [];
    case 'aws_network_acl_rule':
      if (!canBe([], 'egress', String(direction === 'egress'), 'false')) return [];
      return canBe([], 'rule_action', 'allow') ? [one([], ['cidr_block', 'ipv6_cidr_block'])] : [];
    default:
      // aws_db_security_group and aws_redshift_security_group have no ports.
      return direction === 'ingress' ? blocks('ingress', (path) => [opening(path, ['cidr'], [ALL])]) : [];
  }
}

function googleOpenings(
  { r, at, canBe, portTexts, opening, blocks }: Reader,
  direction: Direction,
): readonly Opening[] {
  if (!canBe([], 'direction', direction, 'ingress') || at([], 'disabled') === true) return [];
  if (direction === 'ingress' && admitsOnlyTags(r)) return [];
  const name = direction === 'ingress' ? 'source_ranges' : 'destination_ranges';
  return blocks('allow', (path) => {
    const ports = portTexts(path, 'ports').map(portsOfText);
    const all = isPing(at(path, 'protocol')) ? PING : ALL;
    return [{ ...opening([], [name], ports.length === 0 ? [all] : ports), path: [name] }];
  });
}

function azureOpenings({ at, canBe, opening }: Reader, direction: Direction, path: Path): readonly Opening[] {
  if (!canBe(path, 'direction', direction === 'ingress' ? 'inbound' : 'outbound')) return [];
  if (!canBe(path, 'access', 'allow')) return [];
  const prefix = direction === 'ingress' ? 'source_address_prefix' : 'destination_address_prefix';
  const names = [prefix, `${prefix}es`];
  const ports = [...textsOf(at(path, 'destination_port_range')), ...textsOf(at(path, 'destination_port_ranges'))];
  if (isPing(at(path, 'protocol'))) return [opening(path, names, [PING])];
  return [opening(path, names, ports.length === 0 ? [ALL] : ports.map(portsOfText))];
}

const Ports = z.array(z.int().min(0).max(65535)).max(200);

function find(
  resources: readonly TerraformResource[],
  direction: Direction,
  concerns: (range: PortRange) => boolean,
): readonly Hit[] {
  return createdOrChanged(resources).flatMap((r) =>
    openingsOf(r, direction).flatMap((opening): readonly Hit[] => {
      if (!opening.ports.some(concerns)) return [];
      const open = opening.ranges.flatMap((path) => {
        const value = valueAt(r, path);
        return value.state === 'known' && textsOf(value.value).some(isInternet) && !isUnchanged(r, path) ? [path] : [];
      });
      if (open.length > 0) {
        const ports = opening.ports.map(([a, b]) =>
          a === PING[0] ? 'ICMP' : a === b ? `port ${a}` : a === 0 && b === 65535 ? 'all ports' : `ports ${a} to ${b}`,
        );
        const way = direction === 'ingress' ? 'is open to the internet on' : 'may reach any address on';
        return open.map((path) => atResource(r, `${way} ${ports.slice(0, 5).join(', ')}`, path));
      }
      return opening.hidden === null
        ? []
        : [
            atResource(
              r,
              undecided(
                direction === 'ingress' ? 'the source of its traffic' : 'the destination of its traffic',
                opening.hidden,
              ),
              opening.path,
            ),
          ];
    }),
  );
}

const RULE = { type: 'ingress', protocol: 'tcp', from_port: 22, to_port: 22 };

export const openIngress = terraformRule({
  name: 'terraform_open_ingress',
  logicRevision: 6,
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
  logicRevision: 6,
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
