/**
 * The dry run: runs the change twice, each time on a new connection in a transaction that is rolled back.
 *
 * D1 The transaction always ends in ROLLBACK and the connection is always closed.
 * D2 The second run shows which columns are volatile (now(), random(), a sequence). If the runs do not agree, one more is made,
 *    because another session may have changed the rows in between. If they still do not agree, the record says so.
 */
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import { StagingRecord } from '../../../policy/contracts/staging-record';
import type { StageContext, Staged } from '../../../policy/contracts/target-effects';
import { urlOf } from '../../define';
import { captureWork, type Capture, type Captured, type NotCaptured } from './capture';
import type { Work } from './work';
import { previewOf } from './preview';
import { judgeRuns, toRecord, type Judgement } from './record';
import { openSession, type Session } from './session';
import { toSqlSettings, type SqlSettings } from './settings';
import { targetMisconfigured, targetUnavailable } from '../../target-failure';
import { toSqlFailure, toTargetFailure } from './sql-failure';

/** Reads the tables of a change and returns the work to run. */
export type Prepare = (session: Session) => Promise<Prepared>;
export type Prepared =
  { readonly ok: true; readonly works: readonly Work[] } | { readonly ok: false; readonly outcome: NotCaptured };

export const MAX_RUNS = 3;
const NOTHING: Judgement = { volatile: new Map(), unstable: new Set() };

/** Throws TARGET_UNAVAILABLE (retryable, nothing was applied) or CONFIGURATION_ERROR. Every other outcome is returned. */
export async function rehearse(ctx: StageContext, prepare: Prepare): Promise<Staged> {
  const settings = toSqlSettings(ctx.settings);
  let last: Capture | null = null;
  let judgement = NOTHING;
  let agree = false;
  for (let run = 1; run <= MAX_RUNS; run++) {
    const captured = await runOnce(ctx, prepare, settings);
    if (captured.kind !== 'captured') return toRejected(ctx.target.name, captured);
    const { capture } = captured;
    if (last === null && changesNothing(capture)) return staged(ctx, capture, NOTHING, settings, []);
    if (last !== null) {
      const verdict = judgeRuns(last, capture);
      judgement = verdict.judgement;
      agree = verdict.agree;
    }
    last = capture;
    if (agree) break;
  }
  if (last === null) throw new Error('No dry run was made');
  const reasons = agree || judgement.unstable.size > 0 ? [] : ['two dry runs did not change the same number of rows'];
  return staged(ctx, last, judgement, settings, reasons);
}

function staged(
  ctx: StageContext,
  capture: Capture,
  judgement: Judgement,
  settings: SqlSettings,
  moreReasons: readonly string[],
): Staged {
  const record = toRecord(capture, judgement, {
    sourceTool: ctx.diff.sourceTool,
    target: ctx.target.name,
    settings,
    moreReasons,
  });
  const parsed = StagingRecord.safeParse(record);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return rejected(
      `the staging record of this change is invalid (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}); submit the change in smaller parts`,
      null,
    );
  }
  return { kind: 'staged', record: parsed.data, preview: previewOf(capture) };
}

async function runOnce(ctx: StageContext, prepare: Prepare, settings: SqlSettings): Promise<Captured> {
  let session: Session;
  try {
    session = await openSession({
      url: urlOf(ctx.target),
      applicationName: `countersign stage ${ctx.changeId.slice(0, 12)}`,
      settings,
      signal: ctx.signal,
    });
  } catch (error) {
    throw toTargetFailure(ctx.target.name, toSqlFailure(error, 'connecting'));
  }
  try {
    const prepared = await prepare(session);
    if (!prepared.ok) return prepared.outcome;
    return await captureWork(session, prepared.works, settings, ctx.heartbeat);
  } catch (error) {
    throw toTargetFailure(ctx.target.name, toSqlFailure(error, 'the dry run'));
  } finally {
    await session.close();
  }
}

function toRejected(target: string, captured: NotCaptured): Staged {
  switch (captured.kind) {
    case 'declined':
    case 'missed':
      return rejected(captured.explanation, null);
    case 'failed': {
      const failure = toSqlFailure(captured.error, captured.place);
      if (failure.kind === 'unavailable') throw targetUnavailable(target, failure.explanation);
      if (failure.kind === 'misconfigured') throw targetMisconfigured(target, failure.explanation);
      return rejected(failure.explanation, failure.sqlstate, { serverSays: { ...failure.serverSays } });
    }
    default:
      return captured satisfies never;
  }
}

export function rejected(explanation: string, sqlstate: string | null, preview: JsonObject = {}): Staged {
  return { kind: 'rejected', explanation, sqlstate, preview };
}

function changesNothing(capture: Capture): boolean {
  return capture.rows.length === 0 && capture.counted.size === 0 && capture.incomplete.size === 0;
}
