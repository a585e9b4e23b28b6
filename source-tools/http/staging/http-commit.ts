/**
 * Commit and seal of an HTTP patch. The target stores no marker, so the outcome is derived from the resource and
 * from a row in our database that records whether a request was sent.
 *
 * H1 A row is written before the first byte is sent, and the time limit of the request runs from before it is written. Without a
 *    row nothing was applied.
 * H2 Requests carry `If-Match` with the approved ETag, so the server applies at most one of them. Without a strong ETag only one
 *    request is ever sent.
 * H3 The change is applied if the resource is in the approved state. If a request was sent and the resource is neither in the
 *    state before nor in the state after, the outcome is unknown; nothing is guessed.
 * H4 No request begins after the seal. If one began before, sealing waits for the longest time that a request may take, because it
 *    may still be in flight, and reads the resource after that.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalJson, type JsonObject } from '../../../policy/contracts/canonical-json';
import { stagingSha } from '../../../policy/contracts/staging-record';
import type {
  CommitContext,
  CommitResult,
  ReadBack,
  SettleContext,
  TargetContext,
} from '../../../policy/contracts/target-effects';
import { targetUnavailable } from '../../target-failure';
import { httpOf, type HttpAccess } from './http-access';
import { outsideTarget } from './http-place';
import { httpBaseOf, type HttpBase } from './http-record';
import { toHttpSettings, type HttpSettings } from '../staging-settings';
import { comparedSha, readResource, type ReadResource, type Resource } from './resource';
import { sendRequest } from './send-request';
import { readRequest, type StagedRequest } from './staged-request';

/** Multiple of the timeout to wait for a server or proxy that still processes a request after our timeout. */
const IN_FLIGHT_FACTOR = 2;

interface Attempt {
  readonly ctx: CommitContext;
  readonly http: HttpAccess['http'];
  readonly settings: HttpSettings;
  readonly base: HttpBase;
  readonly request: StagedRequest;
}

/** Idempotent: a retry finds what was applied. Throws TARGET_UNAVAILABLE or CONFIGURATION_ERROR. */
export async function commitPatch(ctx: CommitContext): Promise<CommitResult> {
  const http = httpOf(ctx.target);
  const settings = toHttpSettings(ctx.settings);
  const base = httpBaseOf(ctx.approved);
  if (base === null) return { kind: 'refused', explanation: 'the approved record is not of an HTTP resource' };
  const read = readRequest(ctx.diff.raw, ctx.facts, http);
  if (!read.ok) return { kind: 'refused', explanation: read.why };
  const { request } = read;
  if (request.url !== base.url || request.method !== base.method)
    return { kind: 'stale', explanation: 'the request differs from the one that was staged' };
  const attempt = { ctx, http, settings, base, request };
  const found = await readResource(ctx, http, settings, base.url);
  const { sent, sealed } = await ctx.sends.state();
  // Also after the seal: the post validators of an effect that the seal found run here.
  if (sent && matchAfter(base, found) !== null) return checkAfterCommit(attempt, null, true);
  if (sealed) return { kind: 'sealed' };
  if (sent) return resumeSent(attempt, found);
  const before = matchBefore(base, found);
  if (before === null) return { kind: 'stale', explanation: describeMismatch(found) };
  const after = request.apply(before.document);
  if (!after.ok || comparedSha(after.document, base.volatile) !== base.afterSha)
    return { kind: 'stale', explanation: 'the request produces a different state than was approved' };
  return send(attempt, before);
}

/** An earlier attempt sent the request, and the resource is not in the approved state. */
async function resumeSent(attempt: Attempt, found: ReadResource): Promise<CommitResult> {
  const { base, http } = attempt;
  if (base.etag === null) return unknownOutcome(found);
  // H2: the ETag lets at most one request through, and a server that replays responses returns the first one.
  const before = matchBefore(base, found);
  if (before !== null) return send(attempt, before);
  return http.replaysIdempotent ? send(attempt, null) : unknownOutcome(found);
}

async function send(attempt: Attempt, before: Resource | null): Promise<CommitResult> {
  const { ctx, http, settings, base, request } = attempt;
  const ended = (await ctx.endedMeanwhile?.()) ?? null;
  if (ended !== null) return { kind: 'refused', explanation: ended };
  const since = performance.now();
  const begun = await ctx.sends.begin({ resend: base.etag !== null });
  if (begun.kind === 'sealed') return { kind: 'sealed' };
  if (begun.kind === 'sent')
    return {
      kind: 'unknown',
      explanation:
        'another attempt is in progress, and the resource has no strong ETag that would prevent applying both',
    };
  const answer = await sendRequest({
    method: request.method,
    url: request.url,
    headers: {
      ...request.headers,
      ...http.headers,
      ...(base.etag === null ? {} : { 'if-match': base.etag }),
      'idempotency-key': ctx.changeId,
    },
    body: request.body,
    since,
    timeoutMs: settings.timeoutMs,
    maxBytes: null,
    signal: ctx.signal,
  });
  if (answer.kind === 'unsent') throw targetUnavailable(ctx.target.name, `${request.method}: ${answer.explanation}`);
  if (answer.kind === 'lost') return recoverLostResponse(attempt, answer.explanation);
  const { status } = answer;
  if (status === 200 || status === 201 || status === 204) return checkAfterCommit(attempt, before, begun.again);
  if (status === 412) {
    const explanation = `${request.method}: status 412, the resource is not in the approved state`;
    // H2: the first request was rejected, and its ETag will not become valid again.
    if (!begun.again || http.replaysIdempotent) return { kind: 'stale', explanation, final: true };
    return recoverLostResponse(attempt, explanation);
  }
  if (status === 429) throw targetUnavailable(ctx.target.name, `${request.method}: status 429`);
  if (status >= 300 && status < 500 && status !== 408)
    return { kind: 'refused', explanation: `${request.method}: status ${status}` };
  return recoverLostResponse(attempt, `${request.method}: status ${status}`);
}

/** The request was sent, but the response does not show the outcome. The resource may. */
async function recoverLostResponse(attempt: Attempt, explanation: string): Promise<CommitResult> {
  const { ctx, http, settings, base } = attempt;
  const found = await readResource(ctx, http, settings, base.url);
  if (matchAfter(base, found) !== null) return checkAfterCommit(attempt, null, false);
  // Not applied yet: the next attempt sends it again, which is safe because of the ETag.
  if (base.etag !== null && (matchBefore(base, found) !== null || http.replaysIdempotent))
    throw targetUnavailable(ctx.target.name, explanation);
  return { kind: 'unknown', explanation: `${explanation}; ${describeMismatch(found)}` };
}

/** Reads the new state and runs the post validators. `before`: the state to restore if one rejects it. */
async function checkAfterCommit(attempt: Attempt, before: Resource | null, replayed: boolean): Promise<CommitResult> {
  const { ctx, http, settings, base } = attempt;
  const found = await readResource(ctx, http, settings, base.url);
  const effect = effectOf(ctx, base, found);
  const after = matchAfter(base, found);
  if (after === null)
    return {
      kind: 'applied',
      effect,
      replayed,
      shouldBeReverted: `the resource is not in the approved state: ${describeMismatch(found)}`,
    };
  const { etag } = after;
  const post = await ctx.postCheck?.({ ...ctx.approved, base: { ...ctx.approved.base, written: etag } });
  if (post?.ok !== false) return { kind: 'applied', effect, replayed };
  const undone = await undo(attempt, before, etag);
  return undone === null
    ? { kind: 'compensated', explanation: post.explanation, effect }
    : { kind: 'applied', effect, replayed, shouldBeReverted: `${post.explanation}; it was not reverted: ${undone}` };
}

/** Restores the previous state if there was no other write since. Null if it is restored, otherwise the reason why not. */
async function undo(attempt: Attempt, before: Resource | null, etag: string | null): Promise<string | null> {
  const { ctx, http, settings, base } = attempt;
  if (http.undo === 'none') return "the target's configuration does not allow it";
  if (before === null || !before.exact || etag === null)
    return 'the previous state is not known, or the resource has no strong ETag';
  const answer = await sendRequest({
    method: 'PUT',
    url: base.url,
    headers: {
      'content-type': 'application/json',
      ...http.headers,
      'if-match': etag,
      'idempotency-key': `${ctx.changeId}-undo`,
    },
    body: canonicalJson(before.document),
    timeoutMs: settings.timeoutMs,
    maxBytes: null,
    signal: ctx.signal,
  });
  const found = await readResource(ctx, http, settings, base.url);
  if (found.ok && comparedSha(found.resource.document, base.volatile) === comparedSha(before.document, base.volatile))
    return null;
  return answer.kind === 'answered' ? `PUT: status ${answer.status}` : `PUT: ${answer.explanation}`;
}

/** The effect as the receipt states it: URL, ETags and digests, no content. */
function effectOf(ctx: CommitContext | SettleContext, base: HttpBase, found: ReadResource): JsonObject {
  const { method, url, etag, afterSha } = base;
  return {
    ...(ctx.approved === null ? {} : { stagingSha: stagingSha(ctx.approved) }),
    method,
    url,
    etagBefore: etag,
    etagAfter: found.ok ? found.resource.etag : null,
    afterSha,
  };
}

/** The resource if it is in the state that the change was approved for; otherwise null. */
function matchBefore(base: HttpBase, found: ReadResource): Resource | null {
  if (!found.ok || found.resource.etag !== base.etag) return null;
  return comparedSha(found.resource.document, base.volatile) === base.beforeSha ? found.resource : null;
}

/** The resource if it is in the approved state after the change; otherwise null. */
function matchAfter(base: HttpBase, found: ReadResource): Resource | null {
  return found.ok && comparedSha(found.resource.document, base.volatile) === base.afterSha ? found.resource : null;
}

function unknownOutcome(found: ReadResource): CommitResult {
  return { kind: 'unknown', explanation: `a request was sent before, and ${describeMismatch(found)}` };
}

function describeMismatch(found: ReadResource): string {
  return found.ok ? 'the resource is in neither the state before nor the approved state after' : found.explanation;
}

export async function sealPatch(ctx: SettleContext): Promise<ReadBack> {
  return (await ctx.sends.seal()).sent ? readOutcome(ctx) : { found: false };
}

/** Derives the outcome from the resource (H3, H4). */
async function readOutcome(ctx: SettleContext): Promise<ReadBack> {
  const http = httpOf(ctx.target);
  const settings = toHttpSettings(ctx.settings);
  const base = httpBaseOf(ctx.approved);
  if (base === null) return { found: 'unknown', explanation: 'a request was sent, but there is no record of its URL' };
  const elsewhere = outsideTarget(base.url, http);
  if (elsewhere !== null) return { found: 'unknown', explanation: `a request was sent, and now ${elsewhere}` };
  const first = await readResource(ctx, http, settings, base.url);
  if (matchAfter(base, first) !== null) return { found: true, effect: effectOf(ctx, base, first), unchecked: true };
  if (matchBefore(base, first) === null)
    return { found: 'unknown', explanation: `a request was sent, and ${describeMismatch(first)}` };
  await waitForInFlight(ctx, settings);
  const later = await readResource(ctx, http, settings, base.url);
  if (matchAfter(base, later) !== null) return { found: true, effect: effectOf(ctx, base, later), unchecked: true };
  if (matchBefore(base, later) !== null) return { found: false };
  return { found: 'unknown', explanation: `a request was sent, and ${describeMismatch(later)}` };
}

async function waitForInFlight(ctx: TargetContext, settings: HttpSettings): Promise<void> {
  await sleep(IN_FLIGHT_FACTOR * settings.timeoutMs, undefined, ctx.signal === undefined ? {} : { signal: ctx.signal });
}
