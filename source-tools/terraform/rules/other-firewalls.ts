import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import type { TerraformResource } from '../facts/terraform-facts';
import { DESCRIPTIVE, isUnchanged, member, memberAt, stepsOf, textsOf, type Path } from './values';

/** An address range in a resource of a type whose firewall rules are not known. */
export interface OtherRange {
  /** Path of the range, or of a list of ranges. */
  readonly path: Path;
  /** Path of the block that contains it. */
  readonly rule: Path;
  readonly egress: boolean;
  /** The ports of the block; null for all. */
  readonly ports: readonly number[] | null;
}

/** Routes and NAT send traffic somewhere; they admit none. */
const NO_FIREWALL = /(?:^|_)(?:routes?|router|nat_gateway)(?:_|$)/;
const OUTGOING = /egress|outbound|dest|target/i;
const SOURCE = /^(?:source|src|remote)_?(?:addr|ip|cidr|range|prefix)/i;
const DENIES = /^(?:deny|drop|reject|block)/i;
const DECISION = ['action', 'rule_action', 'policy', 'access', 'effect'];

/** The address ranges of a new resource, wherever its type keeps them, or those that an update changes or gives other ports. */
export function otherRanges(r: TerraformResource): readonly OtherRange[] {
  return NO_FIREWALL.test(r.type) ? [] : rangesBelow(r, r.after, []);
}

function rangesBelow(r: TerraformResource, value: JsonValue, path: Path): readonly OtherRange[] {
  if (Array.isArray(value)) return value.flatMap((item: JsonValue, i) => rangesBelow(r, item, [...path, i]));
  if (!isJsonObject(value) || denies(value)) return [];
  const names = Object.keys(value).filter((name) => !DESCRIPTIVE.has(name));
  const ranges = names.filter((name) => isRange(name, member(value, name)));
  return [
    ...(ranges.length === 0 ? [] : rangesOf(r, value, path, ranges)),
    ...names.flatMap((name) => rangesBelow(r, member(value, name), [...path, name])),
  ];
}

/** The address ranges of one block. */
function rangesOf(r: TerraformResource, rule: JsonObject, path: Path, names: readonly string[]): readonly OtherRange[] {
  const ports = portsOf(rule);
  const goesOut = saysOutgoing(rule) || path.some((step) => OUTGOING.test(String(step)));
  const isChanged = admitsOther(r, path);
  return names
    .filter((name) => isChanged || !isUnchanged(r, [...path, name]))
    .map((name) => ({ path: [...path, name], rule: path, egress: goesOut || OUTGOING.test(name), ports }));
}

/** Whether a member is an address range such as 0.0.0.0/0, or a list of them. A word such as `*` is one only for a source. */
function isRange(name: string, value: JsonValue): boolean {
  const texts = textsOf(value);
  if (texts.some((text) => /^[\d.]+\/\d+$|^[\da-f:.]*:[\da-f:.]*\/\d+$/i.test(text.trim()))) return true;
  return SOURCE.test(name) && texts.length > 0;
}

/** Whether an update changes what a block says about ports, protocols or its decision. */
function admitsOther(r: TerraformResource, rule: Path): boolean {
  return stepsOf(memberAt(r.after, rule)).some(
    (step) => /port|proto|tcp|udp|action|policy|access|effect/i.test(String(step)) && !isUnchanged(r, [...rule, step]),
  );
}

function denies(rule: JsonObject): boolean {
  return DECISION.some((name) => textsOf(member(rule, name)).some((text) => DENIES.test(text)));
}

function saysOutgoing(rule: JsonObject): boolean {
  return ['direction', 'type'].some((name) =>
    textsOf(member(rule, name)).some((text) => /^(?:egress|out)/i.test(text)),
  );
}

/** The ports that a block names one by one; null if it names none, or a range of them. */
function portsOf(rule: JsonObject): readonly number[] | null {
  const ends = new Set<string>();
  const listed: string[] = [];
  const walk = (value: JsonValue, isPort: boolean): void => {
    for (const step of stepsOf(value)) {
      const name = String(step);
      const below = isPort ? !/source|src/i.test(name) : /port|^(?:tcp|udp)/i.test(name) && !/source|src/i.test(name);
      const item = member(value, step);
      if (Array.isArray(value) && isPort && typeof item !== 'object') listed.push(String(item));
      else if (typeof item === 'object' && item !== null) walk(item, below);
      else if (below && item !== null) ends.add(String(item));
    }
  };
  walk(rule, false);
  // One text can name both ends of a range: `443/443` or `443-443`.
  const single = [...new Set([...ends].flatMap((text) => text.split(/[-/:]/)))];
  const named = [...listed, ...single];
  return single.length <= 1 && named.length > 0 && named.every((text) => /^\d+$/.test(text)) ? named.map(Number) : null;
}
