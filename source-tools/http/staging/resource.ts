/** Reads the current state of one resource. */
import { canonicalJson } from '../../../policy/contracts/canonical-json';
import { sha256HexOfText } from '../../../policy/contracts/hash';
import { tokensOf } from '../../../policy/text/json-pointer';
import type { Json } from '../facts/json';
import { equal, valueAtPointer } from '../facts/json-patch';
import { readJsonDocument } from '../../../policy/text/json-document';
import type { TargetContext } from '../../../policy/contracts/target-effects';
import type { HttpAccess } from './http-access';
import { targetUnavailable } from '../../target-failure';
import { sendRequest } from './send-request';
import type { HttpSettings } from '../staging-settings';

export interface Resource {
  readonly document: Json;
  /** Strong ETag with its quotes; null if the server sends none or a weak one. */
  readonly etag: string | null;
  /** False if a number loses digits when it is parsed. Equal digests then do not prove equal documents. */
  readonly exact: boolean;
}

export type ReadResource =
  | { readonly ok: true; readonly resource: Resource }
  /** The server responded, but not with a resource. `gone`: it reports that the resource does not exist. */
  | { readonly ok: false; readonly explanation: string; readonly gone: boolean };

/** A strong entity tag (RFC 9110, section 8.8.3). */
export const STRONG_ETAG = /^"[\x21\x23-\x7e\x80-\xff]*"$/;

/** Throws TARGET_UNAVAILABLE if there is no response, or a status that may be temporary (408, 429, 5xx). */
export async function readResource(
  ctx: TargetContext,
  http: HttpAccess['http'],
  settings: HttpSettings,
  url: string,
): Promise<ReadResource> {
  const answer = await sendRequest({
    method: 'GET',
    url,
    // A cache between us and the server may have an older state.
    headers: { accept: 'application/json', 'cache-control': 'no-cache', ...http.headers },
    timeoutMs: settings.timeoutMs,
    maxBytes: settings.maxBytes,
    signal: ctx.signal,
  });
  if (answer.kind !== 'answered') throw targetUnavailable(ctx.target.name, `GET: ${answer.explanation}`);
  const { status, headers, body } = answer;
  if (status >= 500 || status === 429 || status === 408)
    throw targetUnavailable(ctx.target.name, `GET: status ${status}`);
  const failed = (why: string): ReadResource => ({
    ok: false,
    explanation: `GET: ${why}`,
    gone: status === 404 || status === 410,
  });
  if (status >= 300 && status < 400) return failed(`status ${status}: redirects are not followed`);
  if (status !== 200) return failed(`status ${status}`);
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (type !== 'application/json' && !type.endsWith('+json')) return failed('the response is not JSON');
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    return failed('the response is compressed, although compression was not requested');
  const read = readJsonDocument(body, { maxBytes: settings.maxBytes, maxDepth: 64, maxEntries: 100_000 });
  if (!read.ok) return failed(`the response cannot be parsed: ${read.code}`);
  const { etag } = headers;
  return {
    ok: true,
    resource: {
      document: read.value as Json,
      etag: etag !== undefined && STRONG_ETAG.test(etag) ? etag : null,
      exact: read.inexactAt === null,
    },
  };
}

/** Digest of the document without the members at the JSON pointers `volatile`, which are not empty. */
export function comparedSha(document: Json, volatile: readonly string[]): string {
  const paths = volatile.map((pointer) => tokensOf(pointer) ?? []);
  return sha256HexOfText(canonicalJson(withoutMembers(document, paths)));
}

/** Whether the two documents differ at any of the JSON pointers. */
export function changesAt(pointers: readonly string[], before: Json, after: Json): boolean {
  return pointers.some((pointer) => {
    const tokens = tokensOf(pointer) ?? [];
    const [a, b] = [valueAtPointer(before, tokens), valueAtPointer(after, tokens)];
    return a === undefined || b === undefined ? a !== b : !equal(a, b);
  });
}

/** Removes all members at once: after the removal of one item of an array, a second pointer would name the next item. */
function withoutMembers(value: Json, paths: readonly (readonly string[])[]): Json {
  if (typeof value !== 'object' || value === null || paths.length === 0) return value;
  const kept = Object.entries(value).flatMap(([name, member]): [string, Json][] => {
    const below = paths.filter(([first]) => first === name).map((path) => path.slice(1));
    return below.some((path) => path.length === 0) ? [] : [[name, withoutMembers(member, below)]];
  });
  return Array.isArray(value) ? kept.map(([, item]) => item) : Object.fromEntries(kept);
}
