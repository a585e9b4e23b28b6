import { isJsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { refuse } from '../../../policy/text/refusal';
import type { HttpHeader, HttpPatchFacts } from './http-facts';

const MEDIA_TYPE = /^[!#$&^_.+0-9A-Za-z-]{1,100}\/[!#$&^_.+0-9A-Za-z-]{1,100}$/;
const UTF8 = /^charset\s*=\s*"?utf-?8"?$/;

/** The media type of the body; null if none is stated. Throws Refused. */
export function readContentType(
  stated: string | null,
  headers: readonly Pick<HttpHeader, 'name' | 'value'>[],
): Pick<HttpPatchFacts, 'contentType' | 'contentParameters'> {
  const header = headers.find(({ name }) => name === 'content-type')?.value ?? null;
  const [a, b] = [mediaType(stated), mediaType(header)];
  if (a.type !== null && b.type !== null && a.type !== b.type)
    return refuse('invalid_content_type', '"contentType" and the Content-Type header differ', null);
  return { contentType: a.type ?? b.type, contentParameters: [...new Set([...a.parameters, ...b.parameters])] };
}

interface MediaType {
  readonly type: string | null;
  /** Names. */
  readonly parameters: readonly string[];
}

function mediaType(text: string | null): MediaType {
  if (text === null) return { type: null, parameters: [] };
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  // The body is sent in UTF-8. A server that decodes it as UTF-7, for example, reads other names.
  if (parameters.some((parameter) => /^charset\s*=/.test(parameter) && !UTF8.test(parameter)))
    return refuse('invalid_content_type', 'Invalid content type: expected no charset other than utf-8', null);
  if (!MEDIA_TYPE.test(type))
    return refuse('invalid_content_type', 'Invalid content type: expected a media type such as application/json', null);
  const names = parameters.map((parameter) => (parameter.split('=', 1)[0] as string).trim());
  return { type, parameters: names.filter((name) => name !== '' && name !== 'charset') };
}

/** How a body is read. Throws Refused. */
export function bodyKind(body: JsonValue | undefined, contentType: string | null): HttpPatchFacts['body'] {
  if (contentType === 'application/json-patch+json') return 'json-patch';
  if (body === undefined) return 'none';
  if (contentType === 'application/merge-patch+json') return 'merge-patch';
  const isJson = contentType === null ? typeof body !== 'string' : isJsonType(contentType);
  if (isJson) return 'json';
  if (typeof body === 'string') return 'text';
  return refuse('invalid_document', 'Expected "body" to be text, since the content type is not JSON', null);
}

function isJsonType(type: string): boolean {
  return type === 'application/json' || type.endsWith('+json') || type === 'text/json';
}

/** Whether a JSON body replaces the document and may remove members. True for a PUT if the document is not known. */
export function replacesDocument(method: string, body: JsonValue, document: JsonValue | undefined): boolean {
  return method === 'PUT' && !keepsMembers(document, body);
}

/** Whether the new document has every member of the old one. False if the old one is not known. */
export function keepsMembers(old: JsonValue | undefined, body: JsonValue): boolean {
  if (old === undefined) return false;
  if (Array.isArray(old))
    return (
      Array.isArray(body) &&
      old.every((item: JsonValue, i) => i < body.length && keepsMembers(item, body[i] as JsonValue))
    );
  if (!isJsonObject(old)) return true;
  if (!isJsonObject(body)) return false;
  return Object.entries(old).every(
    ([name, member]) => Object.hasOwn(body, name) && keepsMembers(member, body[name] as JsonValue),
  );
}
