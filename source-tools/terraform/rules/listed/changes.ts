import { isJsonObject, type JsonValue } from '../../../../policy/contracts/canonical-json';
import { containsTrue, sameJson } from '../../facts/masks';
import type { TerraformResource } from '../../facts/terraform-facts';
import { itemsNotIn, member, stepsOf } from '../values';
import type { OwnPlaces } from './conditions';
import type { ListedType } from './entries';

/** One location of a resource. */
interface Place {
  readonly before: JsonValue;
  readonly after: JsonValue;
  readonly unknown: JsonValue;
  /** `true` at each sensitive location whose value the change sets. */
  readonly sensitive: JsonValue;
}

/** The name for all attributes of a resource if the plan shows none of them. */
const EVERYTHING = '*';

/**
 * Names of the attributes that the change of a resource sets and that are not listed, with dots between nested ones. A name that
 * contains a dot, such as a key of a map, is not an attribute of a block, so it is listed only with what contains it.
 */
export function unlistedAttributes(r: TerraformResource, listed: ListedType, own: OwnPlaces): readonly string[] {
  const { conditions, parents } = listed;
  const creates = r.action === 'create';
  const left = new Set(r.leftToProvider);
  const isListed = (name: string, { before, after, unknown }: Place, block: JsonValue): boolean => {
    const setting = {
      creates,
      leftToProvider: left.has(name),
      before,
      after,
      unknown: containsTrue(unknown),
      block,
      own,
    };
    return conditions.get(name)?.some((holds) => holds(setting)) === true;
  };
  const walk = (place: Place, name: string, block: JsonValue): readonly string[] => {
    if (!isChanged(place) || isListed(name, place, block)) return [];
    const below = parents.has(name) ? placesBelow(place) : null;
    return below === null
      ? [name]
      : below.flatMap(([step, inner]) =>
          walk(inner, typeof step === 'number' ? name : `${name}.${plain(step)}`, place.after),
        );
  };
  const { before, after, unknown, sensitiveChanges: sensitive } = r;
  if (!isJsonObject(after) || unknown === true || Array.isArray(unknown) || sensitive === true) return [EVERYTHING];
  const root = { before, after, unknown, sensitive };
  const names = stepsBelow(root)
    .map(String)
    .filter((name) => !(isComputed(name) && left.has(name)));
  return [...new Set(names.flatMap((name) => walk(placeAt(root, name), plain(name), after)))];
}

/** Names of the attributes that a new resource must set and does not. */
export function missingAttributes({ action, after, unknown }: TerraformResource, { required }: ListedType): string[] {
  if (action !== 'create') return [];
  return required.filter((name) => isBlank(member(after, name)) && !containsTrue(maskAt(unknown, name)));
}

/**
 * Names that no provider gives to a block. Whether an unknown block is left to the provider does not show, because the
 * configuration in a plan leaves out blocks that `dynamic` generates.
 */
function isComputed(name: string): boolean {
  return /(?:^|_)(?:id|arn|arns|uri|fqdn|fingerprint|date|hash|etag|self_link)$|^(?:primary|secondary)_\w+_(?:endpoint|host|key|string)$/.test(
    name,
  );
}

function plain(name: string): string {
  return name.includes('.') ? `"${name}"` : name;
}

function placeAt({ before, after, unknown, sensitive }: Place, step: string | number): Place {
  return {
    before: member(before, step),
    after: member(after, step),
    unknown: maskAt(unknown, step),
    sensitive: maskAt(sensitive, step),
  };
}

/** A mask that marks a whole value marks each of its members. */
function maskAt(mask: JsonValue, step: string | number): JsonValue {
  return mask === true ? true : member(mask, step);
}

function stepsBelow({ before, after, unknown, sensitive }: Place): readonly (string | number)[] {
  return [...new Set([before, after, unknown, sensitive].flatMap(stepsOf))];
}

function isChanged({ before, after, unknown, sensitive }: Place): boolean {
  if (containsTrue(unknown) || containsTrue(sensitive)) return true;
  return isEmpty(before) && isEmpty(after) ? false : !sameJson(before, after);
}

/** Whether a value is empty, or contains only empty ones. */
function isBlank(value: JsonValue): boolean {
  return isEmpty(value) || (typeof value === 'object' && Object.values(value as object).every(isBlank));
}

function isEmpty(value: JsonValue): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

/**
 * The locations below one, with their steps; null if the change must be judged as a whole, because it removes an item of a list
 * or because the plan does not show one of the values, or because it is a list of lists, which is not a list of blocks.
 */
function placesBelow(place: Place): readonly (readonly [string | number, Place])[] | null {
  const { before, after, unknown, sensitive } = place;
  if (unknown === true || sensitive === true || typeof after !== 'object' || after === null) return null;
  if (Array.isArray(after) && after.some((item: JsonValue) => Array.isArray(item))) return null;
  const each = (): readonly (readonly [string | number, Place])[] =>
    stepsBelow(place).map((step) => [step, placeAt(place, step)]);
  if (!Array.isArray(after)) return before === null || !Array.isArray(before) ? each() : null;
  const items = after as readonly JsonValue[];
  if (isEmpty(before) || (Array.isArray(before) && before.length === items.length)) return each();
  if (!Array.isArray(before) || itemsNotIn(before, items).length > 0) return null;
  // The plan leaves out items of a set that are not known, but not from the mask.
  if ([unknown, sensitive].some((mask) => stepsOf(mask).length > items.length)) return null;
  const added = new Set(itemsNotIn(items, before as readonly JsonValue[]));
  if (added.size !== items.length - before.length) return null;
  return items.flatMap((item, i) => {
    const isNew = added.has(item) || containsTrue(member(unknown, i)) || containsTrue(member(sensitive, i));
    return isNew ? [[i, { ...placeAt(place, i), before: null }] as const] : [];
  });
}
