/** Undoes an HTTP patch that a post validator has rejected (H5 of http-commit.ts). */
import { canonicalJson, type JsonObject } from '../../../policy/contracts/canonical-json';
import type { CommitContext, CommitResult } from '../../../policy/contracts/target-effects';
import type { HttpSettings } from '../staging-settings';
import type { HttpAccess } from './http-access';
import { isRestored } from './http-outcome';
import type { HttpBase } from './http-record';
import { readResource, type Resource } from './resource';
import { sendRequest, startTimer, type HttpAnswer } from './send-request';

interface Undo {
  readonly ctx: CommitContext;
  readonly http: HttpAccess['http'];
  readonly settings: HttpSettings;
  readonly base: HttpBase;
}

/** What to restore, and the ETag of exactly the state that we wrote. */
export interface Restorable {
  readonly before: Resource;
  readonly etag: string;
}

/** What the undo needs, or why the effect cannot be undone. */
export function restorable(
  http: HttpAccess['http'],
  before: Resource | null,
  etag: string | null,
): Restorable | { readonly impossible: string } {
  if (http.undo === 'none') return { impossible: "the target's configuration does not allow it" };
  if (before === null || !before.exact || etag === null)
    return { impossible: 'the previous state is not known, or the resource has no strong ETag' };
  return { before, etag };
}

/** Restores the previous state if there was no other write since. */
export async function undo(
  { ctx, http, settings, base }: Undo,
  { before, etag }: Restorable,
  applied: { readonly effect: JsonObject; readonly replayed: boolean; readonly explanation: string },
): Promise<CommitResult> {
  const { effect, replayed, explanation } = applied;
  const elapsed = startTimer();
  if (!(await ctx.sends.beginUndo(explanation)))
    return { kind: 'unknown', explanation: `${explanation}; meanwhile another attempt reports or undoes the effect` };
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
    elapsed,
    timeoutMs: settings.timeoutMs,
    maxBytes: null,
    signal: ctx.signal,
  });
  const found = await readResource(ctx, http, settings, base.url);
  if (isRestored(base, found)) return { kind: 'compensated', explanation, effect };
  const why = answer.kind === 'answered' ? `PUT: status ${answer.status}` : `PUT: ${answer.explanation}`;
  // The request may still be in flight, or accepted and applied later. The seal waits for it.
  if (mayStillApply(answer)) return { kind: 'unknown', explanation: `${explanation}; it may be reverted: ${why}` };
  return { kind: 'applied', effect, replayed, shouldBeReverted: `${explanation}; it was not reverted: ${why}` };
}

function mayStillApply(answer: HttpAnswer): boolean {
  if (answer.kind !== 'answered') return answer.kind === 'lost';
  return answer.status < 300 || answer.status >= 500 || answer.status === 408;
}
