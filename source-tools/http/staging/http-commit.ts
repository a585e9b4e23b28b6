/**
 * Commit, read-back and seal of an HTTP patch. The target keeps no marker of ours, so that what happened is told from the
 * resource itself and from our own row that says whether anything was ever sent.
 *
 * H1 Before the first byte goes out, a row says that it will. Where there is none, nothing was applied, and sealing is writing it.
 * H2 `If-Match` with the approved tag: of any number of requests the server applies one. Without a strong tag only one is
 *    ever sent.
 * H3 Applied is what the resource shows: the approved state. Neither the state before nor the one after, once something was
 *    sent, means that nobody here knows; nothing is guessed.
 * H4 Time is part of the seal where something was sent: a request that is still under way is waited for as long as one may take.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalJson, type JsonObject } from '../../../policy/contracts/canonical-json';
import { stagingSha } from '../../../policy/contracts/staging-record';
import type {
  CommitContext,
  CommitResult,
  HttpAccess,
  ReadBack,
  SettleContext,
  TargetContext,
} from '../../../policy/contracts/target-effects';
import { targetUnavailable } from '../../target-failure';
import { httpOf, outside } from './http-place';
import { httpBaseOf, type HttpBase } from './http-record';
import { toHttpSettings, type HttpSettings } from './http-settings';
import { comparedSha, readResource, type ReadResource, type Resource } from './resource';
import { sendRequest } from './send-request';
import { readRequest, type StagedRequest } from './staged-request';

/** Longer than the server, or a proxy on the way, takes after we have given up. */
const QUIET_FACTOR = 2;

interface Attempt {
  readonly ctx: CommitContext;
  readonly http: HttpAccess['http'];
  readonly settings: HttpSettings;
  readonly base: HttpBase;
  readonly request: StagedRequest;
}

/** Throws TARGET_UNAVAILABLE or CONFIGURATION_ERROR; the next attempt finds what was applied. */
export async function commitPatch(ctx: CommitContext): Promise<CommitResult> {
  const http = httpOf(ctx);
  const settings = toHttpSettings(ctx.settings);
  const base = httpBaseOf(ctx.approved);
  if (base === null) return { kind: 'refused', explanation: 'the approved record is of no HTTP resource' };
  const read = readRequest(ctx.diff.raw, ctx.facts, http);
  if (!read.ok) return { kind: 'refused', explanation: read.why };
  const { request } = read;
  if (request.url !== base.url || request.method !== base.method)
    return { kind: 'stale', explanation: 'the request is not the one that was tried' };
  const attempt = { ctx, http, settings, base, request };
  const found = await readResource(ctx, http, settings, base.url);
  switch (await ctx.sends.state()) {
    case 'sealed':
      return { kind: 'sealed' };
    case 'sent':
      return again(attempt, found);
    case 'none':
      break;
  }
  const before = asBefore(base, found);
  if (before === null) return { kind: 'stale', explanation: movedWords(found) };
  const after = request.apply(before.document);
  if (!after.ok || comparedSha(after.document, base.volatile) !== base.afterSha)
    return { kind: 'stale', explanation: 'the request makes another state than was approved' };
  return send(attempt, before);
}

/** An earlier attempt has sent it. */
async function again(attempt: Attempt, found: ReadResource): Promise<CommitResult> {
  const { base, http } = attempt;
  if (asAfter(base, found) !== null) return afterwards(attempt, null, true);
  if (base.etag === null) return unknown(found);
  // H2: the tag lets it through once at most, and a server that replays tells what became of the first one.
  const before = asBefore(base, found);
  if (before !== null) return send(attempt, before);
  return http.replaysIdempotent ? send(attempt, null) : unknown(found);
}

async function send(attempt: Attempt, before: Resource | null): Promise<CommitResult> {
  const { ctx, http, settings, base, request } = attempt;
  const ended = (await ctx.endedMeanwhile?.()) ?? null;
  if (ended !== null) return { kind: 'refused', explanation: ended };
  const began = await ctx.sends.begin();
  if (began === 'sealed') return { kind: 'sealed' };
  if (began === 'again' && base.etag === null)
    return {
      kind: 'unknown',
      explanation: 'another attempt is under way, and the resource has no tag to tell them apart',
    };
  ctx.heartbeat?.();
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
    timeoutMs: settings.timeoutMs,
    maxBytes: null,
    signal: ctx.signal,
  });
  if (answer.kind === 'unsent') throw targetUnavailable(ctx.target.name, `${request.method}: ${answer.explanation}`);
  if (answer.kind === 'lost') return lost(attempt, answer.explanation);
  const { status } = answer;
  if (status === 200 || status === 201 || status === 204) return afterwards(attempt, before, began === 'again');
  if (status === 412) {
    const explanation = `${request.method}: status 412, the resource is not what was approved`;
    // H2: the first one that went out was refused, and its tag will not come back.
    if (began === 'first' || http.replaysIdempotent) return { kind: 'stale', explanation, final: true };
    return lost(attempt, explanation);
  }
  if (status === 429) throw targetUnavailable(ctx.target.name, `${request.method}: status 429`);
  if (status >= 300 && status < 500 && status !== 408)
    return { kind: 'refused', explanation: `${request.method}: status ${status}` };
  return lost(attempt, `${request.method}: status ${status}`);
}

/** It went out, and its answer does not tell: the resource may. */
async function lost(attempt: Attempt, explanation: string): Promise<CommitResult> {
  const { ctx, http, settings, base } = attempt;
  const found = await readResource(ctx, http, settings, base.url);
  if (asAfter(base, found) !== null) return afterwards(attempt, null, false);
  // Not there yet: sent once more by the next attempt, which the tag makes safe.
  if (base.etag !== null && (asBefore(base, found) !== null || http.replaysIdempotent))
    throw targetUnavailable(ctx.target.name, explanation);
  return { kind: 'unknown', explanation: `${explanation}; ${movedWords(found)}` };
}

/** What really stands there now, and what post validators say of it. `before`: what can be put back. */
async function afterwards(attempt: Attempt, before: Resource | null, replayed: boolean): Promise<CommitResult> {
  const { ctx, http, settings, base } = attempt;
  const found = await readResource(ctx, http, settings, base.url);
  const effect = effectOf(ctx, base, found);
  const after = asAfter(base, found);
  if (after === null)
    return {
      kind: 'applied',
      effect,
      replayed,
      stands: `the resource is not as it was approved: ${movedWords(found)}`,
    };
  const { etag } = after;
  const post = await ctx.postCheck?.({ ...ctx.approved, base: { ...ctx.approved.base, written: etag } });
  if (post?.ok !== false) return { kind: 'applied', effect, replayed };
  const undone = await undo(attempt, before, etag);
  return undone === null
    ? { kind: 'compensated', explanation: post.explanation, effect }
    : { kind: 'applied', effect, replayed, stands: `${post.explanation}; it was not taken back: ${undone}` };
}

/** Puts back what was there, where nobody has written since. Null where it is back, else why not. */
async function undo(attempt: Attempt, before: Resource | null, etag: string | null): Promise<string | null> {
  const { ctx, http, settings, base } = attempt;
  if (http.undo === 'none') return "the target's configuration says no";
  if (before === null || !before.exact || etag === null)
    return 'what was there before is not known any more, or the resource has no strong tag';
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

/** What the receipt tells of the effect: address, tags and digests, no content. */
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

/** The resource where it is as it was approved against; null otherwise. */
function asBefore(base: HttpBase, found: ReadResource): Resource | null {
  if (!found.ok || found.resource.etag !== base.etag) return null;
  return comparedSha(found.resource.document, base.volatile) === base.beforeSha ? found.resource : null;
}

/** The resource where it is as it was approved to be; null otherwise. */
function asAfter(base: HttpBase, found: ReadResource): Resource | null {
  return found.ok && comparedSha(found.resource.document, base.volatile) === base.afterSha ? found.resource : null;
}

function unknown(found: ReadResource): CommitResult {
  return { kind: 'unknown', explanation: `it was sent before, and ${movedWords(found)}` };
}

function movedWords(found: ReadResource): string {
  return found.ok ? 'the resource is neither as it was nor as it should be' : found.explanation;
}

export async function readBackPatch(ctx: SettleContext): Promise<ReadBack> {
  return (await ctx.sends.state()) === 'sent' ? lookBack(ctx) : { found: false };
}

export async function sealPatch(ctx: SettleContext): Promise<ReadBack> {
  return (await ctx.sends.seal()) === 'sent' ? lookBack(ctx) : { found: false };
}

/** H3, H4. */
async function lookBack(ctx: SettleContext): Promise<ReadBack> {
  const http = httpOf(ctx);
  const settings = toHttpSettings(ctx.settings);
  const base = httpBaseOf(ctx.approved);
  if (base === null) return { found: 'unknown', explanation: 'it was sent, and there is no record that says where' };
  const elsewhere = outside(base.url, http);
  if (elsewhere !== null) return { found: 'unknown', explanation: `it was sent, and now ${elsewhere}` };
  const first = await readResource(ctx, http, settings, base.url);
  if (asAfter(base, first) !== null) return { found: true, effect: effectOf(ctx, base, first), unchecked: true };
  if (asBefore(base, first) === null) return { found: 'unknown', explanation: `it was sent, and ${movedWords(first)}` };
  await quiet(ctx, settings);
  const later = await readResource(ctx, http, settings, base.url);
  if (asAfter(base, later) !== null) return { found: true, effect: effectOf(ctx, base, later), unchecked: true };
  if (asBefore(base, later) !== null) return { found: false };
  return { found: 'unknown', explanation: `it was sent, and ${movedWords(later)}` };
}

async function quiet(ctx: TargetContext, settings: HttpSettings): Promise<void> {
  await sleep(QUIET_FACTOR * settings.timeoutMs, undefined, ctx.signal === undefined ? {} : { signal: ctx.signal });
}
