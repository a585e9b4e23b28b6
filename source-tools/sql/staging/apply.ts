/**
 * The commit: runs the work in one transaction with the marker, and compares the result with the approved record before COMMIT.
 *
 * X1 Order: marker, work, comparison, post validators, effect, COMMIT.
 * X2 Until COMMIT is sent, every exit rolls back: any result or error before that means that nothing was applied.
 * X3 After COMMIT is sent nothing is thrown. Only an ERROR of the server means that the change was not applied. After a lost
 *    connection, a timeout or a FATAL the outcome is unknown.
 * X4 What was rehearsed has passed the same check again in this transaction, so its connection may be kept (S6 in session.ts) once
 *    COMMIT is acknowledged. What was not rehearsed runs on a new connection, which is closed.
 */
import { CountersignFailure } from '../../../policy/contracts/failure';
import { DatabaseError } from 'pg';
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import { stagingSha, type StagingRecord } from '../../../policy/contracts/staging-record';
import type { CommitContext, CommitResult, ReadBack, TargetContext } from '../../../policy/contracts/target-effects';
import { captureWork, type NotCaptured } from './capture';
import { readMarker, SEALED, takeMarker, writeEffect, type Marker } from './marker';
import { differenceOf, judgementOf, toRecord } from './record';
import { checkRehearsable } from './gate';
import type { Gate, Prepare } from './rehearse';
import { connect } from './connect';
import type { Session } from './session';
import { toSqlSettings, waitingForMarker, type SqlSettings } from '../staging-settings';
import { targetMisconfigured } from '../../target-failure';
import { toSqlFailure, toTargetFailure } from './sql-failure';

/** Throws TARGET_UNAVAILABLE (retryable) or CONFIGURATION_ERROR, in both cases before anything was applied. */
export async function apply(ctx: CommitContext, prepare: Prepare): Promise<CommitResult> {
  const settings = toSqlSettings(ctx.settings);
  const session = await connect(ctx, waitingForMarker(settings), { fresh: ctx.approved.reason === 'not_rehearsed' });
  let end = session.close;
  try {
    const ready = await applyInTransaction(ctx, prepare, settings, session);
    if (ready.kind !== 'ready') return ready;
    const result = await sendCommit(session, ready.effect);
    if (result.kind === 'applied') end = session.release;
    return result;
  } finally {
    await end();
  }
}

/** What was rehearsed must still be fit for a rehearsal: a trigger added since could have other effects than the recorded ones. */
function gateOf({ approved }: CommitContext, settings: SqlSettings, session: Session): Gate {
  return async (works) => {
    if (approved.reason === 'not_rehearsed') return null;
    const checked = await checkRehearsable(session, works, settings);
    return checked.ok ? null : checked.outcome;
  };
}

type Ready = { readonly kind: 'ready'; readonly effect: JsonObject };

async function applyInTransaction(
  ctx: CommitContext,
  prepare: Prepare,
  settings: SqlSettings,
  session: Session,
): Promise<CommitResult | Ready> {
  const marker = await ownQueries(ctx, 'the marker', async () => {
    const transaction = await takeMarker(session, ctx.idempotency, settings.lockTimeoutMs);
    return transaction === null ? { existing: await readMarker(session, ctx.idempotency) } : { transaction };
  });
  if ('existing' in marker) return fromMarker(marker.existing);

  const prepared = await ownQueries(ctx, 'reading the tables', () => prepare(session, gateOf(ctx, settings, session)));
  if (!prepared.ok) return fromFailed(ctx, prepared.outcome);
  const captured = await ownQueries(ctx, 'the commit', () =>
    captureWork(session, prepared.works, settings, { checked: ctx.approved.reason !== 'not_rehearsed' }),
  );
  if (captured.kind !== 'captured') return fromFailed(ctx, captured);

  const facts = { sourceTool: ctx.diff.sourceTool, target: ctx.target.name, settings };
  const record = toRecord(captured.capture, judgementOf(ctx.approved), facts);
  const difference = differenceOf(ctx.approved, record);
  if (difference !== null) return { kind: 'stale', explanation: difference };

  const post = await ctx.postCheck?.(record);
  if (post?.ok === false) return { kind: 'post_failed', explanation: post.explanation };

  const effect = await ownQueries(ctx, 'storing the effect', async () => {
    const stored = effectOf(ctx.approved, record, marker.transaction);
    await writeEffect(session, ctx.idempotency, stored);
    return stored;
  });
  const ended = (await ctx.endedMeanwhile?.()) ?? null;
  if (ended !== null) return { kind: 'refused', explanation: ended };
  return { kind: 'ready', effect };
}

/** Effect for the receipt: row counts and the target's transaction id, without row data. */
function effectOf(approved: StagingRecord, done: StagingRecord, transaction: string): JsonObject {
  return {
    stagingSha: stagingSha(approved),
    statements: done.statements.length,
    tables: done.tables.map(({ table, inserted, updated, deleted }) => ({ table, inserted, updated, deleted })),
    sideEffects: done.sideEffects.map((s) => ({ ...s })),
    transaction,
  };
}

async function sendCommit(session: Session, effect: JsonObject): Promise<CommitResult> {
  try {
    const command = await session.commit();
    // If the transaction had failed before, the server answers COMMIT with the tag ROLLBACK and no error.
    if (command !== 'COMMIT')
      return { kind: 'refused', explanation: `the server answered COMMIT with ${command || 'an empty tag'}` };
    return { kind: 'applied', effect, replayed: false };
  } catch (error) {
    const failure = toSqlFailure(error, 'COMMIT');
    if (error instanceof DatabaseError && error.severity === 'ERROR')
      return { kind: 'refused', explanation: failure.explanation };
    return { kind: 'unknown', explanation: failure.explanation };
  }
}

function fromMarker(marker: Marker | null): CommitResult {
  switch (marker?.kind) {
    case 'applied':
      return { kind: 'applied', effect: marker.effect, replayed: true };
    case 'sealed':
      return { kind: 'sealed' };
    case 'broken':
    case undefined:
      return {
        kind: 'unknown',
        explanation: 'the target has a marker without an effect; an operator must investigate',
      };
    default:
      return marker satisfies never;
  }
}

function fromFailed(ctx: CommitContext, captured: NotCaptured): CommitResult {
  switch (captured.kind) {
    case 'not_rehearsed':
      return {
        kind: 'stale',
        explanation: `since the dry run the target has changed so that it could not be rehearsed any more: ${captured.reasons[0] ?? ''}`,
      };
    case 'missed':
      return { kind: 'stale', explanation: captured.explanation };
    case 'declined':
      return { kind: 'refused', explanation: captured.explanation };
    case 'failed': {
      const failure = toSqlFailure(captured.error, captured.place);
      if (failure.kind !== 'refused') throw toTargetFailure(ctx.target.name, failure);
      return { kind: 'refused', explanation: failure.explanation };
    }
    default:
      return captured satisfies never;
  }
}

/** Writes a sealed marker if the change was not applied. Throws a retryable failure while another attempt is still running. */
export async function seal(ctx: TargetContext): Promise<ReadBack> {
  const settings = toSqlSettings(ctx.settings);
  const session = await connect(ctx, waitingForMarker(settings), { fresh: true });
  try {
    return await ownQueries(ctx, 'reading the marker', async () => {
      // Take the marker instead of reading it: an attempt whose COMMIT is still running has no visible row yet, but has the lock.
      if ((await takeMarker(session, ctx.changeId, settings.lockTimeoutMs)) !== null) {
        await writeEffect(session, ctx.changeId, SEALED);
        const command = await session.commit();
        if (command !== 'COMMIT') throw new Error(`the server answered COMMIT with ${command}`);
        return { found: false };
      }
      const marker = await readMarker(session, ctx.changeId);
      if (marker?.kind === 'applied') return { found: true, effect: marker.effect };
      if (marker?.kind === 'sealed') return { found: false };
      throw targetMisconfigured(ctx.target.name, 'it has a marker without an effect; an operator must investigate');
    });
  } finally {
    await session.close();
  }
}

/** Runs Countersign's own queries. If the server rejects one, a grant or the marker table is missing. */
async function ownQueries<T>(ctx: TargetContext, place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CountersignFailure) throw error;
    throw toTargetFailure(ctx.target.name, toSqlFailure(error, place));
  }
}
