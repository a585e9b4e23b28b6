/**
 * Commit of an HTTP patch; http-seal.ts settles it. The target stores no marker, so the outcome is derived from the resource and
 * from rows in our database that record what was sent.
 *
 * H1 A row is written before the first byte is sent, and the time limit of the request runs from before it is written. Without a
 *    row nothing was applied. The row is taken back if the request certainly was not processed: no byte was sent, or the answer was 429
 *    or 412.
 * H2 One request is sent. `If-Match` does not make a second one safe, because the resource can return to the state before with the
 *    same ETag. Only a server that replays responses gets the request again, and only with `If-Match`.
 * H3 The change is applied if the resource is in the approved state, which differs from the state before. If a request was sent and
 *    the resource is in neither state, the outcome is unknown; nothing is guessed. It is also unknown if the server answers that it
 *    applied the change and the resource is in the state before.
 * H4 No request begins after the seal. If one began before, sealing waits for the longest time that a request may take, because it
 *    may still be in flight, and reads the resource after that.
 * H5 An effect is either reported as applied or undone. An attempt seals before it reports, and writes a row before it undoes; the
 *    first of the two forbids the other. Without the server's answer to its own request an attempt undoes nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import type { BegunSend, CommitContext, CommitResult } from '../../../policy/contracts/target-effects';
import { targetUnavailable } from '../../target-failure';
import { httpOf, type HttpAccess } from './http-access';
import { describeMismatch, describeState, effectOf, etagOf, matchAfter, matchBefore } from './http-outcome';
import { httpBaseOf, type HttpBase } from './http-record';
import { waitForInFlight } from './http-seal';
import { restorable, undo } from './http-undo';
import { toHttpSettings, type HttpSettings } from '../staging-settings';
import { comparedSha, readResource, type ReadResource, type Resource } from './resource';
import { sendRequest, startTimer } from './send-request';
import { readRequest, type StagedRequest } from './staged-request';

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
  const { sent, undoing, sealed } = await ctx.sends.state();
  // `found` can be from before the effect. The seal reads the resource after the row, and waits for the request of the undo.
  if (undoing !== null) return { kind: 'sealed' };
  // Also after the seal: the post validators of an effect that the seal found run here.
  if (sent && matchAfter(base, found) !== null) return checkAfterCommit(attempt, null, true);
  if (sealed) return { kind: 'sealed' };
  if (sent && mayResend(attempt)) return send(attempt, matchBefore(base, found));
  if (sent)
    return { kind: 'unknown', explanation: 'a request was sent, and the resource is not in the approved state' };
  const before = matchBefore(base, found);
  if (before === null) return { kind: 'stale', explanation: describeMismatch(found) };
  const after = request.apply(before.document);
  if (!after.ok || comparedSha(after.document, base.volatile) !== base.afterSha)
    return { kind: 'stale', explanation: 'the request produces a different state than was approved' };
  return send(attempt, before);
}

/** H2 */
function mayResend({ http, base }: Attempt): boolean {
  return http.replaysIdempotent && base.etag !== null;
}

/** `before`: the state of the resource; null if it is not the one that was approved. */
async function send(attempt: Attempt, before: Resource | null): Promise<CommitResult> {
  const { ctx, http, settings, base, request } = attempt;
  // From before the check, because an operator's statement takes effect `lateMs` after it.
  const elapsed = startTimer();
  const ended = (await ctx.endedMeanwhile?.()) ?? null;
  if (ended !== null) return { kind: 'refused', explanation: ended };
  const begun = await ctx.sends.begin({ resend: mayResend(attempt) });
  if (begun.kind === 'sealed') return { kind: 'sealed' };
  if (begun.kind === 'sent') return { kind: 'unknown', explanation: 'another attempt is sending the request' };
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
    elapsed,
    timeoutMs: settings.timeoutMs,
    maxBytes: null,
    signal: ctx.signal,
  });
  if (answer.kind === 'lost') return recoverLostResponse(attempt, answer.explanation);
  const explanation = `${request.method}: ${answer.kind === 'unsent' ? answer.explanation : `status ${answer.status}`}`;
  if (answer.kind === 'unsent' || answer.status === 429) {
    await begun.takeBack();
    throw targetUnavailable(ctx.target.name, explanation);
  }
  const { status } = answer;
  if (status === 200 || status === 201 || status === 204) return checkAfterCommit(attempt, before, begun.again);
  if (status === 412) return checkMismatch(attempt, explanation, begun);
  if (status >= 300 && status < 500 && status !== 408) return { kind: 'refused', explanation };
  return recoverLostResponse(attempt, explanation);
}

/**
 * The server has refused the ETag, so it has not processed this request. A proxy may have sent it twice, and the first one was applied. A
 * server that replays responses has processed no earlier request either, but one may be in flight.
 */
async function checkMismatch(
  attempt: Attempt,
  refusal: string,
  { again, takeBack }: Extract<BegunSend, { readonly kind: 'begun' }>,
): Promise<CommitResult> {
  const { ctx, settings } = attempt;
  if (again) {
    await ctx.sends.seal();
    await waitForInFlight(ctx, settings);
  }
  const found = await readAfterMismatch(attempt);
  if (matchAfter(attempt.base, found) !== null) return checkAfterCommit(attempt, null, again);
  if (!found.ok && !found.gone) return { kind: 'unknown', explanation: `${refusal}, ${found.explanation}` };
  const explanation = `${refusal}, the resource is not in the approved state`;
  if (again) return { kind: 'stale', explanation, final: true };
  await takeBack();
  return { kind: 'stale', explanation };
}

const MISMATCH_READS = 5;

/**
 * Repeats a failed read, because only an early one shows that nothing was applied. If all fail, the outcome is left unknown: once
 * another client may have changed the resource, the refusal could be that of a second copy of a request that was applied.
 */
async function readAfterMismatch({ ctx, http, settings, base }: Attempt): Promise<ReadResource> {
  for (let reads = 1; ; reads++) {
    try {
      return await readResource(ctx, http, settings, base.url);
    } catch (error) {
      if (reads === MISMATCH_READS || ctx.signal?.aborted === true) throw error;
    }
    await sleep(settings.timeoutMs / 4);
  }
}

/** The request was sent, but the response does not show the outcome. The resource may. */
async function recoverLostResponse(attempt: Attempt, explanation: string): Promise<CommitResult> {
  const { ctx, http, settings, base } = attempt;
  const found = await readResource(ctx, http, settings, base.url);
  if (matchAfter(base, found) !== null) return checkAfterCommit(attempt, null, false);
  // The next attempt learns the outcome from the replayed response.
  if (mayResend(attempt)) throw targetUnavailable(ctx.target.name, explanation);
  return { kind: 'unknown', explanation: `${explanation}; ${describeState(base, found)}` };
}

/** Reads the new state and runs the post validators. `before`: the state to restore if one rejects it; null if it is not known. */
async function checkAfterCommit(attempt: Attempt, before: Resource | null, replayed: boolean): Promise<CommitResult> {
  const { ctx, http, settings, base } = attempt;
  const found = await readResource(ctx, http, settings, base.url);
  const effect = effectOf(ctx, base, etagOf(found));
  const after = matchAfter(base, found);
  if (after === null) {
    const why = `the resource is not in the approved state: ${describeState(base, found)}`;
    // A server may answer so and change nothing. A replayed answer is that of an earlier request, whose effect another client may have undone.
    if (before !== null && !replayed && matchBefore(base, found) !== null) return { kind: 'unknown', explanation: why };
    return report(ctx, { effect, replayed, shouldBeReverted: why });
  }
  const post = await ctx.postCheck?.({ ...ctx.approved, base: { ...ctx.approved.base, written: after.etag } });
  if (post?.ok !== false) return report(ctx, { effect, replayed });
  const { explanation } = post;
  const restore = restorable(http, before, after.etag);
  if (!('impossible' in restore)) return undo(attempt, restore, { effect, replayed, explanation });
  const shouldBeReverted = `${explanation}; it was not reverted: ${restore.impossible}`;
  return report(ctx, { effect, replayed, shouldBeReverted });
}

/** H5 */
async function report(
  ctx: CommitContext,
  applied: { readonly effect: JsonObject; readonly replayed: boolean; readonly shouldBeReverted?: string },
): Promise<CommitResult> {
  const { undoing } = await ctx.sends.seal();
  return undoing === null
    ? { kind: 'applied', ...applied }
    : { kind: 'unknown', explanation: `another attempt has begun to undo the effect: ${undoing}` };
}
