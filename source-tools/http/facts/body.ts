import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import type { HttpPatchFacts, PatchFault, Transfer, Write } from './http-facts';
import { Members } from './members';
import { transfersOf, type NameBudget } from './transfers';
import { arrayIndex, pointerOf } from '../../../policy/text/json-pointer';
import { refuse } from '../../../policy/text/refusal';
import { bodyKind, keepsMembers } from './body-kind';
import type { Json } from './json';
import { applyJsonPatch, applyMergePatch, equal, readOperation, type Operation } from './json-patch';

const MAX_OPERATIONS = 5000;
/** Maximum number of segments of one pointer; equals the maximum nesting of the document. */
const MAX_TOKENS = 64;
/** Maximum number of names that the transfers of one patch may list. */
const MAX_NAMES = 50_000;

export type Body = Pick<
  HttpPatchFacts,
  | 'body'
  | 'operations'
  | 'writes'
  | 'members'
  | 'values'
  | 'links'
  | 'transfers'
  | 'longestArray'
  | 'faults'
  | 'result'
  | 'changesNothing'
>;

const EMPTY: Body = {
  body: 'none',
  operations: 0,
  writes: [],
  members: [],
  values: [],
  links: [],
  transfers: [],
  longestArray: 0,
  faults: [],
  result: undefined,
  changesNothing: false,
};

/** What the body writes, by media type. `document`: the document to apply it to; undefined if none was staged. */
export function readBody(
  body: JsonValue | undefined,
  contentType: string | null,
  method: string,
  document: JsonValue | undefined,
): Body {
  switch (bodyKind(body, contentType)) {
    case 'json-patch':
      return readJsonPatch(body, document);
    case 'merge-patch':
      return readMergePatch(body as JsonValue, document);
    case 'json':
      return readPlainJson(body as JsonValue, method, document);
    case 'text':
      return { ...EMPTY, body: 'text' };
    case 'none':
      return EMPTY;
  }
}

function readJsonPatch(body: JsonValue | undefined, document: JsonValue | undefined): Body {
  if (!Array.isArray(body))
    return {
      ...EMPTY,
      body: 'json-patch',
      faults: [{ at: '/body', why: 'a JSON Patch must be an array of operations' }],
    };
  const items = body as readonly JsonValue[];
  if (items.length > MAX_OPERATIONS)
    refuse('too_many_operations', `The patch has more than ${MAX_OPERATIONS} operations`, null);
  const operations: PlacedOperation[] = [];
  const faults: PatchFault[] = [];
  const writes: Write[] = [];
  const seen = new Members();
  for (const [i, item] of items.entries()) {
    const at = `/body/${i}`;
    const read = readOperation(item);
    if (!read.ok) {
      faults.push({ at, why: read.why });
      continue;
    }
    const { operation, others } = read;
    if (operation.path.length > MAX_TOKENS || (operation.from?.length ?? 0) > MAX_TOKENS)
      refuse('too_deep', `A JSON pointer has more than ${MAX_TOKENS} segments`, null);
    operations.push({ ...operation, at });
    writes.push(...writesOf(operation, at));
    // A server may act on them.
    if (Object.keys(others).length > 0) seen.collect(others, [String(i)], ['body', String(i)]);
    if (operation.op === 'test') continue;
    if (operation.value !== undefined) seen.collect(operation.value, operation.path, ['body', String(i), 'value']);
    seen.named(operation.path, `${at}/path`);
  }
  const applicable = document !== undefined && faults.length === 0;
  const base: Body = {
    ...EMPTY,
    body: 'json-patch',
    operations: items.length,
    writes,
    transfers: applicable ? [] : unseenTransfers(operations),
    ...seen.facts(),
    faults,
  };
  return applicable ? { ...base, ...appliedTo(document, operations) } : base;
}

type PlacedOperation = Operation & { readonly at: string };

/** The copies and moves of a patch that was not applied, so that the members that they take are not known. */
function unseenTransfers(operations: readonly PlacedOperation[]): Transfer[] {
  return operations.flatMap((operation) => transfersOf(operation, operation.at, undefined, { left: MAX_NAMES }));
}

/** What the operations do to the document. */
function appliedTo(
  document: JsonValue,
  operations: readonly PlacedOperation[],
): Pick<Body, 'transfers' | 'faults' | 'result' | 'changesNothing'> {
  const transfers: Transfer[] = [];
  const names: NameBudget = { left: MAX_NAMES };
  const applied = applyJsonPatch(document, operations, (i, value) => {
    const operation = operations[i] as PlacedOperation;
    transfers.push(...transfersOf(operation, operation.at, value, names));
  });
  if (applied.ok)
    return { transfers, faults: [], result: applied.value, changesNothing: equal(applied.value, document as Json) };
  return {
    transfers: unseenTransfers(operations),
    faults: [{ at: `/body/${applied.index}`, why: applied.why }],
    result: undefined,
    changesNothing: false,
  };
}

function writesOf({ op, path, from }: Operation, at: string): Write[] {
  const last = path.at(-1);
  const inArray = last !== undefined && (last === '-' || arrayIndex(last) !== null);
  const changes = op !== 'test';
  const shifts = inArray && (op === 'add' || op === 'remove' || op === 'move' || op === 'copy');
  const target: Write = { how: op, changes, pointer: pointerOf(path), at: `${at}/path`, shifts };
  if (from === null) return [target];
  const source = from.at(-1);
  const leaves = op === 'move';
  return [
    {
      how: op,
      changes: leaves,
      pointer: pointerOf(from),
      at: `${at}/from`,
      shifts: leaves && source !== undefined && arrayIndex(source) !== null,
    },
    target,
  ];
}

function readMergePatch(body: JsonValue, document: JsonValue | undefined): Body {
  const writes: Write[] = [];
  const seen = new Members();
  const walk = (value: JsonValue, path: readonly string[]): void => {
    const members = isJsonObject(value) ? Object.entries(value) : [];
    if (isJsonObject(value)) seen.operation(value, ['body', ...path]);
    for (const [key, member] of members) {
      seen.member(key, [...path, key], ['body', ...path, key], member);
      walk(member, [...path, key]);
    }
    if (members.length > 0) return;
    // An object without members also writes: it replaces a value that is not an object.
    seen.collect(value, path, ['body', ...path]);
    const [pointer, at] = [pointerOf(path), pointerOf(['body', ...path])];
    writes.push({ how: value === null && path.length > 0 ? 'null' : 'set', changes: true, pointer, at, shifts: false });
  };
  walk(body, []);
  const base: Body = { ...EMPTY, body: 'merge-patch', writes: [...writes, ...seen.writes], ...seen.facts() };
  if (document === undefined) return base;
  const result = applyMergePatch(document as Json, body as Json);
  return { ...base, result, changesNothing: equal(result, document as Json) };
}

/**
 * PUT replaces the document. With any other method the server decides what each member means. A PUT that keeps every member of
 * the staged document writes only what differs from it.
 */
function readPlainJson(body: JsonValue, method: string, document: JsonValue | undefined): Body {
  if (method === 'PUT' && keepsMembers(document, body) && isJsonObject(document) && isJsonObject(body))
    return readReplacement(body, document);
  const seen = new Members();
  seen.collect(body, [], ['body']);
  const wholeDocument: Write = { how: 'set', changes: true, pointer: '', at: '/body', shifts: false };
  const isObject = isJsonObject(body);
  const members = isObject ? Object.keys(body).map(setOf) : [];
  return {
    ...EMPTY,
    body: 'json',
    writes: [
      ...(method === 'PUT' || !isObject ? [wholeDocument] : []),
      ...members,
      ...(method === 'PUT' || method === 'PATCH' ? nullsIn(body, []) : []),
      ...seen.writes,
    ],
    ...seen.facts(),
  };
}

/** The members that are null, at any depth: most servers remove them, as a merge patch does. */
function nullsIn(value: JsonValue, path: readonly string[]): Write[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]: [string, JsonValue]) => {
    const below = [...path, key];
    if (member !== null) return nullsIn(member, below);
    return Array.isArray(value) ? [] : [nullAt(below)];
  });
}

function nullAt(path: readonly string[]): Write {
  return { how: 'null', changes: true, pointer: pointerOf(path), at: pointerOf(['body', ...path]), shifts: false };
}

function setOf(key: string): Write {
  return { how: 'set', changes: true, pointer: pointerOf([key]), at: pointerOf(['body', key]), shifts: false };
}

function readReplacement(body: JsonObject, document: JsonObject): Body {
  const seen = new Members();
  const removed: Write[] = [];
  const isSame = (old: JsonValue | undefined, value: JsonValue): boolean =>
    old !== undefined && equal(old as Json, value as Json);
  const collect = (old: JsonValue | undefined, value: JsonValue, path: readonly string[]): void => {
    if (!isJsonObject(value) || !isJsonObject(old)) return seen.collect(value, path, ['body', ...path]);
    for (const [key, member] of Object.entries(value)) {
      if (isSame(old[key], member)) continue;
      if (member === null && old[key] !== undefined) removed.push(nullAt([...path, key]));
      seen.member(key, [...path, key], ['body', ...path, key], member);
      collect(old[key], member, [...path, key]);
    }
  };
  collect(document, body, []);
  const changed = Object.entries(body).filter(([key, member]) => !isSame(document[key], member));
  return {
    ...EMPTY,
    body: 'json',
    writes: [...changed.map(([key]) => setOf(key)), ...removed, ...seen.writes],
    ...seen.facts(),
    result: body,
    changesNothing: changed.length === 0,
  };
}
