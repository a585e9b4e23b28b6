import { canonicalJson, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { sha256HexOfText } from '../../../policy/contracts/hash';
import { memoizeByObject } from '../../../policy/text/memoize';
import { wordList } from '../../../policy/text/word-list';
import { containsTrue, sameJson } from '../facts/masks';
import type { TerraformResource } from '../facts/terraform-facts';

/** Names and indices from the root of a resource. */
export type Path = readonly (string | number)[];

/** A value of a resource after the change; `hidden` if the plan does not show it (unknown before apply, or sensitive). */
export type Value =
  | { readonly state: 'known'; readonly value: JsonValue }
  | { readonly state: 'absent' }
  | { readonly state: 'hidden'; readonly why: 'unknown' | 'sensitive' };

/** Members that describe a resource and change nothing about what it does. */
export const DESCRIPTIVE = new Set(
  wordList('id arn name description tags tags_all labels effective_labels terraform_labels timeouts'),
);
const ABSENT: Value = { state: 'absent' };
const UNKNOWN: Value = { state: 'hidden', why: 'unknown' };
const SENSITIVE: Value = { state: 'hidden', why: 'sensitive' };

export function valueAt(resource: TerraformResource, path: Path): Value {
  let value: JsonValue = resource.after;
  let unknown: JsonValue = resource.unknown;
  let sensitive: JsonValue = resource.afterSensitive;
  for (let i = 0; ; i++) {
    if (unknown === true) return UNKNOWN;
    if (sensitive === true) return SENSITIVE;
    const step = path[i];
    if (step === undefined) return value === null ? ABSENT : { state: 'known', value };
    value = member(value, step);
    unknown = member(unknown, step);
    sensitive = member(sensitive, step);
  }
}

export function member(value: JsonValue, step: string | number): JsonValue {
  if (Array.isArray(value)) return typeof step === 'number' ? ((value as readonly JsonValue[])[step] ?? null) : null;
  if (typeof value !== 'object' || value === null || typeof step === 'number') return null;
  return Object.hasOwn(value, step) ? ((value as JsonObject)[step] as JsonValue) : null;
}

/** The member at a path; null if it is missing. */
export function memberAt(value: JsonValue, path: Path): JsonValue {
  return path.reduce<JsonValue>(member, value);
}

/** The names of an object's members or the indices of a list's items; empty for any other value. */
export function stepsOf(value: JsonValue): readonly (string | number)[] {
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value) ? [...value.keys()] : Object.keys(value);
}

/** The value at a path, or its items if it is a list; empty if the value is absent or hidden. */
export function itemsAt(resource: TerraformResource, path: Path): readonly JsonValue[] {
  const value = valueAt(resource, path);
  if (value.state !== 'known') return [];
  return Array.isArray(value.value) ? (value.value as readonly JsonValue[]) : [value.value];
}

/** The strings of a value: the value itself, or the string items of a list. */
export function textsOf(value: JsonValue): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.flatMap((item: JsonValue) => (typeof item === 'string' ? [item] : [])) : [];
}

/** The items of a list, or the value alone. */
export function itemsOf(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : value === null ? [] : [value];
}

/** Whether the plan hides anything at or below the path. */
export function hidesBelow(resource: TerraformResource, path: Path): boolean {
  return hiddenBelow(resource, path) !== null;
}

/** Why the plan hides something at or below the path; null if it hides nothing there. */
export function hiddenBelow(resource: TerraformResource, path: Path): 'unknown' | 'sensitive' | null {
  const value = valueAt(resource, path);
  if (value.state === 'hidden') return value.why;
  if (containsTrue(memberAt(resource.unknown, path))) return 'unknown';
  return containsTrue(memberAt(resource.afterSensitive, path)) ? 'sensitive' : null;
}

/** Managed resources that the plan creates, replaces or updates, in plan order. Most rules look at these. */
export const createdOrChanged = memoizeByObject(
  (resources: readonly TerraformResource[]): readonly TerraformResource[] =>
    resources.filter(
      ({ mode, action }) => mode === 'managed' && (action === 'create' || action === 'update' || action === 'replace'),
    ),
);

/** Whether the plan deletes or replaces the resource. */
export function isDestroyed(resource: TerraformResource): boolean {
  return resource.mode === 'managed' && (resource.action === 'delete' || resource.action === 'replace');
}

/** Whether the value at `path` is the same before and after an update, so that this plan did not introduce it. */
export function isUnchanged(resource: TerraformResource, path: Path): boolean {
  if (resource.action !== 'update') return false;
  const after = valueAt(resource, path);
  return after.state === 'known' && sameJson(memberAt(resource.before, path), after.value);
}

const MAX_TEXT = 100;

/** An encoding that reads each object and list once: it contains the digest of a long one, so that nested lists are compared in linear time. */
function textOf(value: JsonValue): string {
  return typeof value === 'object' && value !== null ? textOfMembers(value) : canonicalJson(value);
}

const textOfMembers = memoizeByObject((value: object): string => {
  const text = canonicalJson(
    Array.isArray(value)
      ? value.map(textOf)
      : Object.fromEntries(Object.entries(value as JsonObject).map(([name, item]) => [name, textOf(item)])),
  );
  return text.length > MAX_TEXT ? `#${sha256HexOfText(text)}` : text;
});

const textsIn = memoizeByObject((list: readonly JsonValue[]): ReadonlySet<string> => new Set(list.map(textOf)));

/** The items of `list` that are not in `other`. Linear in the length of both. */
export function itemsNotIn(list: readonly JsonValue[], other: readonly JsonValue[]): JsonValue[] {
  const others = textsIn(other);
  return list.filter((item) => !others.has(textOf(item)));
}

/**
 * Whether a new Google firewall rule admits only tags or service accounts: the plan names them, and its unknown address ranges
 * are not set in the configuration.
 */
export function admitsOnlyTags(resource: TerraformResource): boolean {
  if (resource.type !== 'google_compute_firewall' || resource.action !== 'create') return false;
  const ranges = valueAt(resource, ['source_ranges']);
  if (ranges.state !== 'hidden' || ranges.why !== 'unknown') return false;
  if (!resource.leftToProvider.includes('source_ranges')) return false;
  return ['source_tags', 'source_service_accounts'].some((name) => {
    const value = valueAt(resource, [name]);
    return value.state === 'known' && textsOf(value.value).length > 0;
  });
}
