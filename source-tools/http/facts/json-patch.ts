/**
 * JSON Patch (RFC 6902), applied to a parsed document.
 *
 * J1 Member names are only data: objects have no prototype, and no name is special.
 * J2 Work is bounded: each copied or compared value counts against a budget, because a patch can copy a document into itself
 *    again and again.
 */
import type { JsonValue } from '../../../policy/contracts/canonical-json';
import { arrayIndex, pointerOf, tokensOf } from '../../../policy/text/json-pointer';
import { shown } from '../../../policy/text/shown-name';
import type { Json, JsonMap } from './json';
import { shownValue } from './shown-value';

export interface Operation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: readonly string[];
  readonly from: readonly string[] | null;
  readonly value: Json | undefined;
}

/** An item of a patch. `others`: its members that RFC 6902 does not define. */
interface ReadItem {
  readonly ok: true;
  readonly operation: Operation;
  readonly others: JsonMap;
}

type ReadOperation = ReadItem | { readonly ok: false; readonly why: string };

const OPS = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

const MEMBERS = new Set(['op', 'path', 'from', 'value']);

/**
 * Reads one item of a patch. Members that RFC 6902 does not define are no part of the operation, as it requires, but one that
 * differs from a defined member only in case is refused: some servers read both as the same.
 */
export function readOperation(item: JsonValue): ReadOperation {
  if (!isMap(item)) return { ok: false, why: 'an operation is not an object' };
  const { op, path, from } = item;
  const twin = Object.keys(item).find((name) => !MEMBERS.has(name) && MEMBERS.has(name.toLowerCase()));
  if (twin !== undefined) return { ok: false, why: `the member ${shown(twin)}, which some servers read in lower case` };
  if (typeof op !== 'string' || !OPS.has(op))
    return { ok: false, why: `an unknown operation${typeof op === 'string' ? ` ${shown(op.slice(0, 40))}` : ''}` };
  const pathTokens = typeof path === 'string' ? tokensOf(path) : null;
  if (pathTokens === null) return { ok: false, why: `${op} with ${notPointer('path', path)}` };
  const needsFrom = op === 'move' || op === 'copy';
  const fromTokens = needsFrom && typeof from === 'string' ? tokensOf(from) : null;
  if (needsFrom && fromTokens === null) return { ok: false, why: `${op} with ${notPointer('from', from)}` };
  const needsValue = op === 'add' || op === 'replace' || op === 'test';
  const shownPath = shownPointer(pathTokens);
  if (needsValue && !Object.hasOwn(item, 'value')) return { ok: false, why: `${op} of ${shownPath} without a value` };
  if (op === 'move' && fromTokens !== null && isBelow(pathTokens, fromTokens))
    return { ok: false, why: `move of ${shownPointer(fromTokens)} into itself, to ${shownPath}` };
  return {
    ok: true,
    operation: {
      op: op as Operation['op'],
      path: pathTokens,
      from: fromTokens,
      value: needsValue ? (item['value'] as Json) : undefined,
    },
    others: Object.fromEntries(Object.entries(item).filter(([name]) => !MEMBERS.has(name))),
  };
}

function notPointer(member: string, value: JsonValue | undefined): string {
  if (value === undefined) return `no "${member}"`;
  return typeof value === 'string'
    ? `a "${member}" that is not a JSON pointer: ${shown(value.slice(0, 200))}`
    : `a "${member}" that is not a string`;
}

function shownPointer(tokens: readonly string[]): string {
  return tokens.length === 0 ? 'the whole document' : shown(pointerOf(tokens).slice(0, 200));
}

/** The operation with its paths, and its value if it may be shown. */
function describe({ op, path, from, value }: Operation): string {
  const source = from === null ? '' : `${shownPointer(from)} to `;
  return `${op} of ${source}${shownPointer(path)}${value === undefined ? '' : ` with ${shownValue(value, path)}`}`;
}

function isBelow(path: readonly string[], parent: readonly string[]): boolean {
  return path.length > parent.length && parent.every((token, i) => token === path[i]);
}

function isMap(value: JsonValue | undefined): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Maximum number of values that one patch may copy or compare. */
const MAX_WORK = 1_000_000;

type Applied =
  | { readonly ok: true; readonly value: Json }
  /** `index`: the operation that failed. */
  | { readonly ok: false; readonly index: number; readonly why: string };

/**
 * The document after all operations, or the first failed operation. The given document is not modified. `onTransfer` receives the
 * value that each copy or move takes, before it is modified.
 */
export function applyJsonPatch(
  document: JsonValue,
  operations: readonly Operation[],
  onTransfer: (index: number, value: Json) => void = () => {},
): Applied {
  const budget = { left: MAX_WORK };
  const root: JsonMap = Object.assign(Object.create(null) as JsonMap, { '': clone(document as Json, budget) });
  for (const [index, operation] of operations.entries()) {
    const why = applyOne(root, operation, budget, (value) => onTransfer(index, value));
    if (budget.left < 0) return { ok: false, index, why: 'the patch copies or compares too many values' };
    if (why !== null) return { ok: false, index, why: `${describe(operation)}: ${why}` };
  }
  return { ok: true, value: root[''] as Json };
}

interface Budget {
  left: number;
}

function applyOne(
  root: JsonMap,
  { op, path, from, value }: Operation,
  budget: Budget,
  onTransfer: (value: Json) => void,
): string | null {
  // The document is the only member of an outer object, so that the root can be replaced like any other member.
  const target = ['', ...path];
  switch (op) {
    case 'add':
      return add(root, target, clone(value as Json, budget), budget);
    case 'replace':
      return replace(root, target, clone(value as Json, budget));
    case 'remove':
      return remove(root, target, budget).why;
    case 'test': {
      const found = valueAtPointer(root, target);
      if (found === undefined) return 'the location does not exist';
      return equal(found, value as Json, budget) ? null : `the value in the document is ${shownValue(found, path)}`;
    }
    case 'copy': {
      const found = valueAtPointer(root, ['', ...(from as readonly string[])]);
      if (found === undefined) return 'the source does not exist';
      onTransfer(found);
      return add(root, target, clone(found, budget), budget);
    }
    case 'move': {
      const removed = remove(root, ['', ...(from as readonly string[])], budget);
      if (removed.why !== null) return removed.why;
      onTransfer(removed.value as Json);
      return add(root, target, removed.value as Json, budget);
    }
    default:
      return op satisfies never;
  }
}

/** The value at a location of the document; undefined if the location does not exist. */
export function valueAtPointer(document: Json, tokens: readonly string[]): Json | undefined {
  let value: Json = document;
  for (const token of tokens) {
    if (Array.isArray(value)) {
      const index = arrayIndex(token);
      const item: Json | undefined = index === null ? undefined : value[index];
      if (item === undefined) return undefined;
      value = item;
    } else if (isMap(value) && Object.hasOwn(value, token)) value = value[token] as Json;
    else return undefined;
  }
  return value;
}

interface Place {
  readonly parent: Json | undefined;
  readonly token: string;
}

function placeOf(root: JsonMap, tokens: readonly string[]): Place {
  return { parent: valueAtPointer(root, tokens.slice(0, -1)), token: tokens.at(-1) as string };
}

const NO_PARENT = 'the parent of the location does not exist';

function add(root: JsonMap, tokens: readonly string[], value: Json, budget: Budget): string | null {
  const { parent, token } = placeOf(root, tokens);
  if (Array.isArray(parent)) {
    const index = token === '-' ? parent.length : arrayIndex(token);
    if (index === null || index > parent.length) return 'the location is not a valid array index';
    budget.left -= parent.length >> 4;
    parent.splice(index, 0, value);
    return null;
  }
  if (!isMap(parent)) return NO_PARENT;
  parent[token] = value;
  return null;
}

function replace(root: JsonMap, tokens: readonly string[], value: Json): string | null {
  const { parent, token } = placeOf(root, tokens);
  if (Array.isArray(parent)) {
    const index = arrayIndex(token);
    if (index === null || index >= parent.length) return 'the item does not exist';
    parent[index] = value;
    return null;
  }
  if (!isMap(parent)) return NO_PARENT;
  if (!Object.hasOwn(parent, token)) return 'the member does not exist';
  parent[token] = value;
  return null;
}

function remove(
  root: JsonMap,
  tokens: readonly string[],
  budget: Budget,
): { readonly why: string | null; readonly value: Json | undefined } {
  const { parent, token } = placeOf(root, tokens);
  if (Array.isArray(parent)) {
    const index = arrayIndex(token);
    if (index === null || index >= parent.length) return { why: 'the item does not exist', value: undefined };
    budget.left -= parent.length >> 4;
    return { why: null, value: parent.splice(index, 1)[0] };
  }
  if (!isMap(parent)) return { why: NO_PARENT, value: undefined };
  if (!Object.hasOwn(parent, token)) return { why: 'the member does not exist', value: undefined };
  const value = parent[token];
  // Removing the whole document leaves null.
  if (tokens.length === 1) parent[token] = null;
  else delete parent[token];
  return { why: null, value };
}

function clone(value: Json, budget: Budget): Json {
  if (--budget.left < 0) return null;
  if (Array.isArray(value)) return value.map((item) => clone(item, budget));
  if (!isMap(value)) return value;
  const copy = Object.create(null) as JsonMap;
  for (const key of Object.keys(value)) copy[key] = clone(value[key] as Json, budget);
  return copy;
}

/** Equality by RFC 6902 section 4.6: numbers by value, objects regardless of member order. */
export function equal(a: Json, b: Json, budget: Budget = { left: MAX_WORK }): boolean {
  if (--budget.left < 0) return false;
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return a === b;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => equal(item, b[i] as Json, budget));
  }
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equal(a[key] as Json, b[key] as Json, budget));
}

/** JSON Merge Patch (RFC 7396): null removes a member, an object is merged, any other value replaces. */
export function applyMergePatch(document: Json | undefined, patch: Json): Json {
  if (!isMap(patch)) return patch;
  const result: JsonMap = Object.assign(Object.create(null) as JsonMap, isMap(document) ? document : {});
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyMergePatch(result[key], value);
  }
  return result;
}
