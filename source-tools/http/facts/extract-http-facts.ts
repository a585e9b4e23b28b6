import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { MAX_DIFF_BYTES } from '../../../policy/contracts/diff';
import type { FactsRefusal } from '../../../policy/contracts/facts';
import { READS, type HttpHeader, type HttpPatchFacts } from './http-facts';
import { HTTP_PARSER } from './http-parser';
import { pointerOf } from '../../../policy/text/json-pointer';
import { readBody, type Body } from './body';
import { readContentType } from './body-kind';
import { readQuery } from './query';
import { readUrl } from './url';
import { inexactNumber, readJsonDocument } from '../../../policy/text/json-document';
import { refusal, refuse, Refused } from '../../../policy/text/refusal';

const BOUNDS = { maxBytes: MAX_DIFF_BYTES, maxDepth: 64, maxEntries: 30_000 };
const MAX_HEADERS = 100;
const MAX_HEADER = 16 * 1024;
const MEMBERS = new Set(['method', 'url', 'contentType', 'headers', 'body', 'document']);
/** A token of RFC 9110 in upper case: methods are case-sensitive. */
const METHOD = /^[A-Z][A-Z0-9_-]{0,31}$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;

/**
 * Facts of a staged request, or a refusal. The bytes are JSON:
 * `{"method", "url", "contentType"?, "headers"?: {name: value}, "body"?, "document"?}`; `document` is the state that the author
 * saw, so that the change can be tried on it. Staging refuses a document that is not the state of the resource. Pure; bounded by
 * bytes, depth and entries; never throws on the contents of the bytes. Refusal codes: those of `readJsonDocument`,
 * invalid_document, invalid_method, invalid_url, invalid_header, invalid_content_type, too_many_operations.
 */
export function extractHttpPatchFacts(raw: Uint8Array): HttpPatchFacts | FactsRefusal {
  try {
    return extract(raw);
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

function extract(raw: Uint8Array): HttpPatchFacts | FactsRefusal {
  const read = readJsonDocument(raw, BOUNDS);
  if (!read.ok) return read;
  if (read.inexactAt !== null) return inexactNumber(read.text, read.inexactAt);
  const request = read.value;
  if (!isJsonObject(request))
    return refusal('invalid_document', 'Expected a JSON object with "method" and "url"', null);
  if (Object.keys(request).some((key) => !MEMBERS.has(key)))
    return refusal('invalid_document', `Expected only the members ${[...MEMBERS].join(', ')}`, null);
  const method = textOf(request, 'method') ?? '';
  if (!METHOD.test(method)) return refusal('invalid_method', 'Expected "method" in upper case, such as PATCH', null);
  const target = textOf(request, 'url') ?? '';
  const url = readUrl(target);
  if (url === null)
    return refusal('invalid_url', 'Expected "url" to be an absolute URL of at most 8192 characters', null);
  const headers = readHeaders(request['headers']);
  const { contentType, contentParameters } = readContentType(textOf(request, 'contentType'), headers);
  const body = readBody(request['body'], contentType, method, request['document']);
  const query = readQuery(target, method);
  return {
    ok: true,
    kind: 'http-patch',
    parser: HTTP_PARSER,
    method,
    url,
    parameters: query.parameters,
    contentType,
    contentParameters,
    headers,
    ...body,
    members: [...body.members, ...query.members],
    links: [...body.links, ...query.links],
    touched: touchedBy(method, body),
  } satisfies HttpPatchFacts;
}

function textOf(request: JsonObject, key: string): string | null {
  const value = request[key] ?? null;
  if (value === null) return null;
  return typeof value === 'string' ? value : refuse('invalid_document', `Expected "${key}" to be a string`, null);
}

function readHeaders(value: JsonValue | undefined): HttpHeader[] {
  if (value === undefined) return [];
  if (!isJsonObject(value))
    return refuse('invalid_header', 'Expected "headers" to be an object that maps names to values', null);
  const entries = Object.entries(value);
  if (entries.length > MAX_HEADERS) return refuse('invalid_header', `Expected at most ${MAX_HEADERS} headers`, null);
  const seen = new Set<string>();
  return entries.map(([name, text]) => {
    if (!HEADER_NAME.test(name))
      return refuse('invalid_header', 'Expected every header name to be a token (RFC 9110)', null);
    if (typeof text !== 'string' || text.length > MAX_HEADER || !isFieldValue(text))
      return refuse(
        'invalid_header',
        'Expected every header value to be one line of Latin-1 text of at most 16 KiB',
        null,
      );
    const lower = name.toLowerCase();
    if (seen.has(lower)) return refuse('invalid_header', 'Duplicate header name', null);
    seen.add(lower);
    return { name: lower, value: text, at: pointerOf(['headers', name]) };
  });
}

/** Whether the text has no control characters except tab. A line end would start another header. */
function isFieldValue(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f || code > 0xff) return false;
  }
  return true;
}

/** Each written location once, in order; the whole document for a DELETE and for a body that does not say what is written. */
function touchedBy(method: string, { body, writes }: Body): HttpPatchFacts['touched'] {
  const names = new Set(writes.filter((write) => write.changes).map((write) => write.pointer));
  if (method === 'DELETE' || body === 'text' || (body === 'none' && !READS.has(method))) names.add('');
  return [...names].map((name) => ({ kind: 'pointer', schema: null, name }));
}
