import type { StagingRecord } from '../../../../policy/contracts/staging-record';
import type { CommitContext, StageContext } from '../../../../policy/contracts/target-effects';
import { memorySends } from '../../../support/memory-sends';
import { diffOf, newChangeId } from '../../../support/staged-change';

/** Limits that attempts which wait for each other do not reach on a busy machine. */
export const PATIENT = { statementTimeoutMs: 60_000, lockTimeoutMs: 60_000, connectTimeoutMs: 15_000 } as const;

/** Connections are kept for later changes, as in the committer. */
const inUse = new AbortController();

export function stageContext(url: string, text: string, more: Partial<StageContext> = {}): StageContext {
  return {
    changeId: newChangeId(),
    diff: diffOf(text),
    facts: { ok: true, kind: 'sql', parser: { name: 'none', version: '0' } } as StageContext['facts'],
    settings: {},
    target: { name: 'shop', url },
    inUse: inUse.signal,
    ...more,
  };
}

/** The same change on new connections, which are closed after it. */
export function notKept<C extends StageContext>({ inUse: _, ...context }: C): Omit<C, 'inUse'> {
  return context;
}

/** Context for the commit of a staged change. */
export function commitContext(
  staged: StageContext,
  url: string,
  approved: StagingRecord,
  more: Partial<CommitContext> = {},
): CommitContext {
  const attempt = { intentAt: '2026-03-01T12:00:00.000Z', sends: memorySends() };
  return { ...staged, target: { name: 'shop', url }, approved, idempotency: staged.changeId, ...attempt, ...more };
}
