import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { TerraformResource } from '../facts/terraform-facts';
import { hiddenBelow, hidesBelow, textsOf, valueAt, type Path } from './values';

/** One firewall rule that allows traffic, in a form common to all providers. */
export interface Opening {
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

export type PortRange = readonly [from: number, to: number];
export const ALL: PortRange = [0, 65535];
/** ICMP has no ports, so it cannot be used to log in. */
export const PING: PortRange = [-1, -1];
export const isPing = (protocol: JsonValue): boolean =>
  ['icmp', 'icmpv6', 'ipv6-icmp', '1', '58'].includes(String(protocol ?? '').toLowerCase());

export function portRange(from: JsonValue, to: JsonValue): PortRange {
  const [a, b] = [Number(from ?? Number.NaN), Number(to ?? Number.NaN)];
  return Number.isInteger(a) && Number.isInteger(b) && a >= 0 && b >= a && !(a === 0 && b === 0) ? [a, b] : ALL;
}

/** `22`, `1000-2000`, `*`. */
function portsOfText(text: string): PortRange {
  if (text.includes('*')) return ALL;
  const [from = '', to = from] = text.split('-');
  return portRange(from, to);
}

/** Reads the firewall rules of one resource. */
export interface Reader {
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

export function readerOf(r: TerraformResource): Reader {
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
