/** One resource as it stands. */
import { canonicalJson, type JsonObject } from '../../../policy/contracts/canonical-json';
import { sha256HexOfText } from '../../../policy/contracts/hash';
import { tokensOf } from '../../../policy/text/json-pointer';
import { applyJsonPatch, type Json, type Operation } from '../facts/json-patch';
import { readJsonDocument } from '../../../policy/text/json-document';
import type { HttpAccess, TargetContext } from '../../../policy/contracts/target-effects';
import { targetUnavailable } from '../../target-failure';
import { sendRequest } from './send-request';
import type { HttpSettings } from './http-settings';

export interface Resource {
  readonly document: Json;
  /** A strong one, with its quotes; null where the server gives none, or a weak one. */
  readonly etag: string | null;
  /** False where a number loses digits when it is read: then equal digests do not prove equal documents. */
  readonly exact: boolean;
}

export type ReadResource =
  | { readonly ok: true; readonly resource: Resource }
  /** The server answered, and not with a resource. */
  | { readonly ok: false; readonly explanation: string };

/** RFC 9110 §8.8.3: what is compared octet by octet. */
const STRONG = /^"[\x21\x23-\x7e\x80-\xff]*"$/;

/** Throws TARGET_UNAVAILABLE where there is no answer, or one that may be another soon (5xx, 429). */
export async function readResource(
  ctx: TargetContext,
  http: HttpAccess['http'],
  settings: HttpSettings,
  url: string,
): Promise<ReadResource> {
  const answer = await sendRequest({
    method: 'GET',
    url,
    headers: { accept: 'application/json', ...http.headers },
    timeoutMs: settings.timeoutMs,
    maxBytes: settings.maxBytes,
    signal: ctx.signal,
  });
  if (answer.kind !== 'answered') throw targetUnavailable(ctx.target.name, `GET: ${answer.explanation}`);
  const { status, headers, body } = answer;
  if (status >= 500 || status === 429 || status === 408)
    throw targetUnavailable(ctx.target.name, `GET: status ${status}`);
  const no = (why: string): ReadResource => ({ ok: false, explanation: `GET: ${why}` });
  if (status >= 300 && status < 400) return no(`status ${status}: a redirect is not followed`);
  if (status !== 200) return no(`status ${status}`);
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (type !== 'application/json' && !type.endsWith('+json')) return no('the answer is not JSON');
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    return no('the answer is compressed, though it was not asked to be');
  const read = readJsonDocument(body, { maxBytes: settings.maxBytes, maxDepth: 64, maxEntries: 100_000 });
  if (!read.ok) return no(`the answer cannot be read: ${read.code}`);
  const { etag } = headers;
  return {
    ok: true,
    resource: {
      document: read.value as Json,
      etag: etag !== undefined && STRONG.test(etag) ? etag : null,
      exact: read.inexactAt === null,
    },
  };
}

/** Digest of the document without the members that the server writes itself. */
export function comparedSha(document: Json, volatile: readonly string[]): string {
  let left = document;
  for (const pointer of volatile) {
    const operation: Operation = { op: 'remove', path: tokensOf(pointer) ?? [], from: null, value: undefined };
    const removed = applyJsonPatch(left as JsonObject, [operation]);
    if (removed.ok) left = removed.value;
  }
  return sha256HexOfText(canonicalJson(left));
}
