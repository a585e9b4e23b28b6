/** What a change does, read from its bytes: the view above its full text. Null if a tool has no view, or its bytes do not parse. */
import { isJsonObject, MAX_DEPTH, type JsonObject, type JsonValue } from '../../../../policy/contracts/canonical-json';
import { readJsonDocument } from '../../../../policy/text/json-document';
import { arrayIndex, pointerOf, tokensOf } from '../../../../policy/text/json-pointer';
import { Refused } from '../../../../policy/text/refusal';
import { bodyKind, readContentType, replacesDocument } from '../../../../source-tools/http/facts/body-kind';
import type { HttpPatchFacts } from '../../../../source-tools/http/facts/http-facts';
import { extractTerraformPlanFacts } from '../../../../source-tools/terraform/facts/extract-terraform-facts';
import { containsTrue } from '../../../../source-tools/terraform/facts/masks';
import type { TerraformResource } from '../../../../source-tools/terraform/facts/terraform-facts';

/** One member with its old and new value, as JSON. Null: absent on that side. */
export interface MemberChange {
  readonly operation: string;
  readonly pointer: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface ResourceChange {
  readonly address: string;
  readonly action: TerraformResource['action'];
  readonly members: readonly MemberChange[];
}

export type Structure =
  | {
      readonly kind: 'request';
      readonly method: string;
      readonly url: string;
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly members: readonly MemberChange[];
      /** Old values are those that the requester saw, not those of the target. */
      readonly hasDocument: boolean;
    }
  | { readonly kind: 'rows'; readonly rows: readonly RowChange[] }
  | { readonly kind: 'resources'; readonly resources: readonly ResourceChange[]; readonly unchanged: number };

export interface RowChange {
  readonly operation: string;
  readonly table: string;
  readonly key: string;
  readonly members: readonly MemberChange[];
}

/** As Terraform names it for people. */
export function actionWord(action: ResourceChange['action']): string {
  return action === 'delete' ? 'destroy' : action;
}

const BOUNDS = { maxBytes: 8 * 1024 * 1024, maxDepth: 64, maxEntries: 30_000 };

export function structureOf(sourceTool: string, bytes: Uint8Array): Structure | null {
  if (sourceTool === 'TerraformPlan') return resourcesOf(bytes);
  if (sourceTool !== 'HTTPPatch' && sourceTool !== 'SQLCAS') return null;
  const read = readJsonDocument(bytes, BOUNDS);
  if (!read.ok || !isJsonObject(read.value)) return null;
  if (sourceTool === 'SQLCAS') return rowsOf(read.value);
  try {
    return requestOf(read.value);
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

/** What a body means depends on its media type and on the method, as the rules read them. */
function requestOf({ method, url, contentType, headers = {}, body, document }: JsonObject): Structure | null {
  if (typeof method !== 'string' || typeof url !== 'string' || !isJsonObject(headers)) return null;
  const stated = typeof contentType === 'string' ? contentType : null;
  const shown = Object.entries(headers).map(([name, value]) => [name, textOf(value)] as const);
  const lower = shown.map(([name, value]) => ({ name: name.toLowerCase(), value }));
  const kind = bodyKind(body, readContentType(stated, lower).contentType);
  return {
    kind: 'request',
    method,
    url,
    headers: stated === null ? shown : [['Content-Type', stated], ...shown],
    members: body === undefined ? [] : bodyMembers(kind, method, body, document),
    hasDocument: document !== undefined,
  };
}

function bodyMembers(
  kind: HttpPatchFacts['body'],
  method: string,
  body: JsonValue,
  document: JsonValue | undefined,
): MemberChange[] {
  if (kind === 'json-patch' && isPatch(body)) return patchMembers(body, document);
  const whole = { pointer: '', before: jsonAt(document, ''), after: textOf(body) };
  if (!isJsonObject(body)) return [{ operation: 'send', ...whole }];
  const merges = kind === 'merge-patch';
  const members = leaves(body, []).map(([tokens, value]): MemberChange => {
    const pointer = pointerOf(tokens);
    const operation = value !== null ? 'set' : merges ? 'remove' : 'set to null';
    const after = merges && value === null ? null : JSON.stringify(value);
    return { operation, pointer, before: jsonAt(document, pointer), after };
  });
  const replaces = kind === 'json' && replacesDocument(method, body, document);
  return replaces ? [{ operation: 'replace', ...whole }, ...members] : members;
}

type Patch = readonly (JsonObject & { readonly op: string; readonly path: string })[];

function isPatch(body: JsonValue): body is JsonValue & Patch {
  return (
    Array.isArray(body) &&
    body.every((each) => isJsonObject(each) && typeof each['op'] === 'string' && typeof each['path'] === 'string')
  );
}

function patchMembers(patch: Patch, document: JsonValue | undefined): MemberChange[] {
  return patch.map(({ op, path, value, from }) => ({
    operation: typeof from === 'string' ? `${op} from ${from}` : op,
    pointer: path,
    // A test changes nothing: the value must be this one.
    before: op === 'test' ? null : jsonAt(document, path),
    after: value === undefined ? null : JSON.stringify(value),
  }));
}

function rowsOf({ rows }: JsonObject): Structure | null {
  if (!Array.isArray(rows)) return null;
  const read = rows.map((row): RowChange | null => {
    if (!isJsonObject(row)) return null;
    const { op = 'update', table, key = {}, expect = {}, set = {} } = row;
    if (typeof op !== 'string' || typeof table !== 'string' || !isJsonObject(expect) || !isJsonObject(set)) return null;
    const names = [...new Set([...Object.keys(expect), ...Object.keys(set)])];
    return {
      operation: op,
      table,
      key: JSON.stringify(key),
      members: names.map((name) => ({
        operation: Object.hasOwn(set, name) ? 'set' : 'must be',
        pointer: name,
        before: Object.hasOwn(expect, name) ? JSON.stringify(expect[name]) : null,
        after: Object.hasOwn(set, name) ? JSON.stringify(set[name]) : null,
      })),
    };
  });
  const known = read.filter((row) => row !== null);
  return known.length === read.length ? { kind: 'rows', rows: known } : null;
}

function resourcesOf(bytes: Uint8Array): Structure | null {
  const facts = extractTerraformPlanFacts(bytes);
  // What has facts is bounded, and deeper than documents of other tools may be.
  const read = readJsonDocument(bytes, { maxBytes: bytes.length, maxDepth: MAX_DEPTH, maxEntries: Infinity });
  if (!facts.ok || !read.ok) return null;
  const changing = facts.resources.filter(({ action }) => action !== 'no-op' && action !== 'read');
  const order: readonly string[] = ['delete', 'replace', 'forget', 'update', 'create'];
  const resources = changing
    .map((resource): ResourceChange => ({
      address: resource.address,
      action: resource.action,
      members: resourceMembers(resource, (name) => valueAt(read.value, `${resource.at}/change/${name}`) ?? null),
    }))
    .sort((a, b) => order.indexOf(a.action) - order.indexOf(b.action));
  return { kind: 'resources', resources, unchanged: facts.resources.length - changing.length };
}

/** `planned`: a side as the plan has it. The facts have null for a sensitive value, so that a change of it does not show. */
function resourceMembers(
  { unknown, action, beforeSensitive, afterSensitive }: TerraformResource,
  planned: (side: 'before' | 'after') => JsonValue,
): MemberChange[] {
  const [old, now] = [leavesByPointer(planned('before')), leavesByPointer(withUnknown(planned('after'), unknown))];
  const text = (leaf: JsonValue | undefined): string | null =>
    leaf === undefined ? null : JSON.stringify(leaf).replaceAll(JSON.stringify(UNKNOWN), 'known after apply');
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((pointer) => {
    const [was, is] = [text(old.get(pointer)), text(now.get(pointer))];
    const shown = (value: string | null, sensitive: JsonValue): string | null =>
      value !== null && isMarked(sensitive, pointer) ? 'sensitive value' : value;
    return was === is
      ? []
      : [{ operation: action, pointer, before: shown(was, beforeSensitive), after: shown(is, afterSensitive) }];
  });
}

/** Whether the mask marks the value at the pointer, something in it, or something around it. */
function isMarked(mask: JsonValue, pointer: string): boolean {
  let at = mask;
  for (const token of tokensOf(pointer) ?? []) {
    if (at === true) return true;
    at = isJsonObject(at) && Object.hasOwn(at, token) ? (at[token] ?? false) : false;
  }
  return containsTrue(at);
}

/** The value with UNKNOWN wherever `unknown` has true, at any depth: there the plan has null or nothing. */
function withUnknown(value: JsonValue, unknown: JsonValue): JsonValue {
  if (unknown === true) return UNKNOWN;
  if (Array.isArray(unknown)) {
    const items = Array.isArray(value) ? value : [];
    return items.map((item, i) => withUnknown(item, unknown[i] ?? false));
  }
  if (!isJsonObject(unknown)) return value;
  const known = isJsonObject(value) ? value : {};
  const later = Object.entries(unknown)
    .filter(([name, of]) => of === true || Object.hasOwn(known, name))
    .map(([name, of]) => [name, withUnknown(known[name] ?? null, of)] as const);
  return later.length === 0 ? value : { ...known, ...Object.fromEntries(later) };
}

function leavesByPointer(value: JsonValue): ReadonlyMap<string, JsonValue> {
  return new Map(isJsonObject(value) ? leaves(value, []).map(([tokens, leaf]) => [pointerOf(tokens), leaf]) : []);
}

/** Values that are not objects, with their path; arrays and empty objects are values. */
function leaves(value: JsonObject, path: readonly string[]): [string[], JsonValue][] {
  return Object.entries(value).flatMap(([name, member]): [string[], JsonValue][] => {
    const at = [...path, name];
    return isJsonObject(member) && Object.keys(member).length > 0 ? leaves(member, at) : [[at, member]];
  });
}

function jsonAt(document: JsonValue | undefined, pointer: string): string | null {
  const value = valueAt(document, pointer);
  return value === undefined ? null : JSON.stringify(value);
}

function valueAt(document: JsonValue | undefined, pointer: string): JsonValue | undefined {
  let value = document;
  for (const token of tokensOf(pointer) ?? [MISSING]) {
    if (Array.isArray(value)) value = value[arrayIndex(token) ?? -1];
    else value = isJsonObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
  }
  return value;
}

/** No member has this name: a lone surrogate is not in a document. */
const MISSING = '\ud800';
/** No value of a document is this text. */
const UNKNOWN = '\ud800';

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
