/**
 * The dry run: the change is run in a transaction that is rolled back, twice, each on its own connection.
 *
 * D1 Whatever comes of it, the transaction ends in ROLLBACK and the connection is closed.
 * D2 A second run tells the columns that are new each time (now(), random(), a sequence) from the rest. Where the runs do
 *    not agree, one more is made, since somebody may have changed the rows in between; then the record says so.
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

/** What a change consists of, once a session can be asked about the tables. */
export type Prepare = (session: Session) => Promise<Prepared>;
export type Prepared =
  { readonly ok: true; readonly works: readonly Work[] } | { readonly ok: false; readonly outcome: NotCaptured };

export const MAX_RUNS = 3;
const NOTHING: Judgement = { volatile: new Map(), unstable: new Set() };

/** Throws TARGET_UNAVAILABLE (retryable: nothing happened) or CONFIGURATION_ERROR; everything else is data. */
export async function rehearse(ctx: StageContext, prepare: Prepare): Promise<Staged> {
  const settings = toSqlSettings(ctx.settings);
  let last: Capture | null = null;
  let judgement = NOTHING;
  let counts = false;
  for (let run = 1; run <= MAX_RUNS; run++) {
    const captured = await runOnce(ctx, prepare, settings);
    if (captured.kind !== 'captured') return toRejected(ctx.target.name, captured);
    const { capture } = captured;
    if (last === null && touchesNothing(capture)) return staged(ctx, capture, NOTHING, settings, []);
    if (last !== null) {
      const verdict = judgeRuns(last, capture);
      judgement = verdict.judgement;
      counts = verdict.agree;
    }
    last = capture;
    if (counts) break;
  }
  if (last === null) throw new Error('no dry run was made');
  const reasons = counts || judgement.unstable.size > 0 ? [] : ['two dry runs did not touch the same number of rows'];
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
      `it does not fit a staging record (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}); submit it in smaller parts`,
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

function touchesNothing(capture: Capture): boolean {
  return capture.rows.length === 0 && capture.counted.size === 0 && capture.incomplete.size === 0;
}
