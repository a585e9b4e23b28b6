import { canonicalJson, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import type { Facts } from '../../../policy/contracts/facts';
import type { HttpPatchFacts } from '../facts/http-facts';
import type { Json } from '../facts/json';
import { applyJsonPatch, applyMergePatch, readOperation, type Operation } from '../facts/json-patch';
import { readJsonDocument } from '../../../policy/text/json-document';
import type { HttpAccess } from './http-access';
import { refusedPlace } from './http-place';

const BOUNDS = { maxBytes: 64 * 1024 * 1024, maxDepth: 64, maxEntries: 100_000 };

export interface StagedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The staged body in canonical JSON, as it is sent. */
  readonly body: string;
  /** The state that the author saw; undefined if none was staged. The facts are about this state. */
  readonly document: Json | undefined;
  /** The document after the request, or why the request does not apply. */
  readonly apply: (document: Json) => AppliedRequest;
}

type AppliedRequest =
  /** `takesMembers`: a copy or move takes an object or array with named members. */
  | { readonly ok: true; readonly document: Json; readonly takesMembers: boolean }
  | { readonly ok: false; readonly why: string };

type ReadRequest =
  { readonly ok: true; readonly request: StagedRequest } | { readonly ok: false; readonly why: string };

/** The staged request as it is sent: PATCH with a JSON Patch or JSON Merge Patch, or PUT with a document. */
export function readRequest(raw: Uint8Array, facts: Facts, http: HttpAccess['http']): ReadRequest {
  if (!facts.ok) return { ok: false, why: `${facts.code}: ${facts.message}` };
  const read = readJsonDocument(raw, BOUNDS);
  if (!read.ok) return { ok: false, why: `${read.code}: ${read.message}` };
  const staged = read.value as JsonObject;
  const url = String(staged['url']);
  const request = facts as HttpPatchFacts;
  const refused = refusedPlace(request, url, http);
  if (refused !== null) return { ok: false, why: refused };
  const { method, body, faults, headers, contentType } = request;
  const [fault] = faults;
  if (fault !== undefined) return { ok: false, why: `${fault.at}: ${fault.why}` };
  const value = staged['body'];
  if (value === undefined) return { ok: false, why: 'the request has no body' };
  const apply = applierOf(method, body, value);
  if (apply === null)
    return {
      ok: false,
      why: `${method} with this body cannot be staged: expected PATCH with a JSON Patch or Merge Patch, or PUT with JSON`,
    };
  const forwarded = Object.fromEntries(headers.map((header) => [header.name, header.value]));
  return {
    ok: true,
    request: {
      method,
      url: new URL(url).href,
      headers: { ...forwarded, 'content-type': contentType ?? 'application/json' },
      body: canonicalJson(value),
      document: staged['document'] as Json | undefined,
      apply,
    },
  };
}

function applierOf(method: string, kind: HttpPatchFacts['body'], body: JsonValue): StagedRequest['apply'] | null {
  if (method === 'PUT' && kind === 'json') return () => ({ ok: true, document: body as Json, takesMembers: false });
  if (method !== 'PATCH') return null;
  if (kind === 'merge-patch')
    return (document) => ({ ok: true, document: applyMergePatch(document, body as Json), takesMembers: false });
  if (kind !== 'json-patch') return null;
  return (document) => {
    const operations: Operation[] = [];
    for (const item of body as readonly JsonValue[]) {
      const read = readOperation(item);
      if (!read.ok) return read;
      operations.push(read.operation);
    }
    let takesMembers = false;
    const applied = applyJsonPatch(document as JsonValue, operations, (_, value) => {
      takesMembers ||= hasMembers(value);
    });
    return applied.ok
      ? { ok: true, document: applied.value, takesMembers }
      : { ok: false, why: `operation ${applied.index + 1} does not apply: ${applied.why}` };
  };
}

function hasMembers(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasMembers);
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
