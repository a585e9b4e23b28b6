import type { JsonObject, JsonValue } from '../../../policy/contracts/canonical-json';
import { pointerOf } from '../../../policy/text/json-pointer';
import { memoizeByObject } from '../../../policy/text/memoize';
import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import type { TerraformResource } from '../facts/terraform-facts';
import { atResource, undecided } from './define-terraform-rule';
import { isOff } from './off-values';
import { itemsNotIn, member, stepsOf, type Value } from './values';

/** What a rule about something that is switched off looks for. */
export interface Concern {
  /** Words, separated by `_` in the name of a member at any level, that make everything below it a concern. */
  readonly words: ReadonlySet<string>;
  /** Types that exist for this purpose: each of their members is a concern, and so is their destruction. */
  readonly types: readonly string[];
  /** Words within the name of a single setting, at any level, that make it a concern. */
  readonly flags: RegExp | null;
  /** Names of members of these types that say what is recorded, and where: any change of one is found. */
  readonly routes?: RegExp;
}

export function isConcern({ words }: Concern, name: string): boolean {
  return name.split(/[._-]/).some((word) => words.has(word.toLowerCase()));
}

/**
 * A location of a resource, with what the plan shows there after the change. It is derived from the location above it, so that the
 * cost does not grow with the depth.
 */
interface Place {
  readonly r: TerraformResource;
  /** The last name of the path, without positions in lists. */
  readonly name: string;
  readonly label: string;
  readonly pointer: string;
  readonly after: JsonValue;
  readonly unknown: JsonValue;
  readonly sensitive: JsonValue;
}

export function rootOf(r: TerraformResource): Place {
  return { r, name: '', label: '', pointer: '', after: r.after, unknown: r.unknown, sensitive: r.afterSensitive };
}

const MAX_LABEL = 200;

export function below(place: Place, step: string | number): Place {
  const { r, name, label, pointer, after, unknown, sensitive } = place;
  return {
    r,
    name: typeof step === 'string' ? step : name,
    label: label === '' ? String(step) : label.length > MAX_LABEL ? label : `${label}.${step}`,
    pointer: pointer + pointerOf([String(step)]),
    after: member(after, step),
    unknown: unknown === true || member(unknown, step),
    sensitive: sensitive === true || member(sensitive, step),
  };
}

function valueOf({ after, unknown, sensitive }: Place): Value {
  if (unknown === true) return { state: 'hidden', why: 'unknown' };
  if (sensitive === true) return { state: 'hidden', why: 'sensitive' };
  return after === null ? { state: 'absent' } : { state: 'known', value: after };
}

const labelOf = ({ label }: Place): string => shown(label.slice(0, MAX_LABEL));

function at(place: Place, what: string): Hit {
  return { ...atResource(place.r, what), at: `${place.r.at}/change/after${place.pointer}` };
}

const off = (place: Place, what: string): Hit => {
  const text = `${labelOf(place)} ${what}`;
  return valueOf(place).state === 'known' ? at(place, text) : atResource(place.r, text);
};

/** Where a search collects its hits: lists that each level joins would cost its depth for each hit. */
interface Search {
  readonly concern: Concern;
  readonly hits: Hit[];
}

/** Adds hits for what the update switches off at or below the place. `concerned`: whether the value itself belongs to the concern. */
export function switchedOff(place: Place, search: Search, before: JsonValue, concerned: boolean): void {
  const { concern, hits } = search;
  if (typeof before !== 'object' || before === null) {
    if (concerned || concern.flags?.test(place.name) === true) hits.push(...scalarHit(place, concern, before));
  } else if (Array.isArray(before)) {
    if (concerned) return inList(place, search, before);
    for (const [i, item] of (before as readonly JsonValue[]).entries())
      switchedOff(
        below(place, indexOf(place, item) ?? i),
        search,
        item,
        SETTINGS.test(place.name) && isSetting(concern, item),
      );
  } else if (valueOf(place).state === 'absent') {
    if (concerned) hits.push(off(place, 'is removed'));
  } else {
    for (const [name, value] of Object.entries(before as JsonObject))
      switchedOff(below(place, name), search, value, concerned || isConcern(concern, name));
  }
}

const SETTINGS = /parameter|flag|setting|option/;

/** Whether an item is a name with a value, as in a group of parameters, and its name makes it a concern. */
export function isSetting(concern: Concern, item: JsonValue): boolean {
  const name = member(item, 'name');
  return typeof name === 'string' && member(item, 'value') !== null && isConcern(concern, name);
}

/** The index that a named item of a list has after the change; null if it has no name. The order of a set can change. */
function indexOf(list: Place, item: JsonValue): number | null {
  const name = member(item, 'name');
  const after = valueOf(list);
  if (typeof name !== 'string' || after.state !== 'known' || !Array.isArray(after.value)) return null;
  return indexByName(after.value).get(name) ?? after.value.length;
}

const indexByName = memoizeByObject(
  (list: readonly JsonValue[]): ReadonlyMap<JsonValue, number> =>
    new Map(list.map((item, i) => [member(item, 'name'), i])),
);

function scalarHit(place: Place, { routes }: Concern, before: JsonValue): Hit[] {
  const { r, name } = place;
  const after = valueOf(place);
  if (after.state === 'hidden')
    return isOff(name, before) === false ? [at(place, undecided(labelOf(place), after.why))] : [];
  const value = after.state === 'known' ? after.value : null;
  if (routes?.test(name) === true && value !== before) return [off(place, 'is changed')];
  const least = leastOf(r, name, before);
  if (least !== null)
    return (leastOf(r, name, value) ?? 0) >= least
      ? []
      : [off(place, `is reduced from ${shown(String(before).slice(0, 50))} to ${shown(String(value).slice(0, 50))}`)];
  return isOff(name, before) === false && isOff(name, value) === true ? [off(place, 'is switched off')] : [];
}

/** The number in a minimum or a retention, also within text such as `TLS1_2`; null for any other member. */
function leastOf(r: TerraformResource, name: string, value: JsonValue): number | null {
  const isRetention = /retention|(?<!automatically_after_)days$|delete_after/.test(name);
  if (!isRetention && !/^(?:min|minimum|required)_|^security_policy$/.test(name)) return null;
  const digits = /\d+(?:[._]\d+)?/.exec(typeof value === 'number' || typeof value === 'string' ? String(value) : '');
  if (digits === null) return null;
  const least = Number(digits[0].replace('_', '.'));
  // A retention of 0 keeps logs for ever; for backups it switches them off.
  return isRetention && least === 0 && r.type === 'aws_cloudwatch_log_group' ? Infinity : least;
}

function inList(place: Place, search: Search, before: readonly JsonValue[]): void {
  const { hits } = search;
  const after = valueOf(place);
  if (after.state === 'hidden') {
    if (before.length > 0) hits.push(at(place, undecided(labelOf(place), after.why)));
    return;
  }
  const items = after.state === 'known' && Array.isArray(after.value) ? (after.value as readonly JsonValue[]) : [];
  const lost = new Set(itemsNotIn(before, items));
  const [first] = lost;
  if (first === undefined) return;
  if (typeof first !== 'object' || first === null)
    hits.push(off(place, `no longer contains ${shown(String(first).slice(0, 100))}`));
  else if (items.length < before.length) hits.push(off(place, items.length === 0 ? 'is removed' : 'loses an entry'));
  else for (const [i, item] of before.entries()) if (lost.has(item)) switchedOff(below(place, i), search, item, true);
}

/** Hits for members of a new resource that are known to be off. */
export function createdOff(place: Place, names: ReadonlySet<string>): Hit[] {
  const { name, after } = place;
  if (typeof after !== 'object' || after === null)
    return names.has(name) && after !== null && (after === 0 || isOff(name, after) === true)
      ? [off(place, 'is off')]
      : [];
  return stepsOf(after).flatMap((step) => createdOff(below(place, step), names));
}
