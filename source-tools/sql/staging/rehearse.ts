/**
 * The dry run: runs the change twice, each time in a transaction that is rolled back.
 *
 * D1 Each transaction ends in ROLLBACK before anything else is done. The connection is closed unless all runs ended without an error.
 * D2 Before anything executes, statements and catalog are checked (gate.ts). What must not be rehearsed is not executed: the record
 *    says `not_rehearsed`, and after a person's yes the change first executes in the commit.
 * D3 All runs together take at most `rehearsalTimeoutMs`, and wait at most 500 ms for a lock. Exceeding a limit is a result, not an
 *    error to retry. After that the connection is not used again.
 * D4 The second run shows which columns are volatile (now(), random(), a sequence). If the runs do not agree, one more is made,
 *    because another session may have changed the rows in between. If they still do not agree, the record says so.
 * D5 All runs use one connection, which may come from an earlier change and be kept for a later one (S6 in session.ts): the first
 *    queries of a connection cost several times as much as later ones. A run can neither leave nor find state there that a new
 *    connection would not have. What it executes has passed D2: no function on that list sets anything in the session, or reads more
 *    of it than the settings with which each transaction begins (safe-functions.ts), except that a default may reserve values of a
 *    sequence, which are discarded (S4). SET, PREPARE, DECLARE, LISTEN, advisory locks and temporary tables are never rehearsed. The
 *    runs differ in now(), because each has its own transaction. A value that is constant in a session, such as pg_backend_pid(),
 *    would not differ, but is not on the list.
 */
import { DatabaseError } from 'pg';
import { StagingRecord } from '../../../policy/contracts/staging-record';
import type { StageContext, Staged } from '../../../policy/contracts/target-effects';
import { captureWork, type Capture, type Captured, type NotCaptured } from './capture';
import { checkRehearsable, rowGuard } from './gate';
import type { WrittenColumns } from './assigned-columns';
import type { Work } from './work';
import { previewOf } from './preview';
import {
  explainVolatile,
  judgeRuns,
  notRehearsed,
  NOTHING,
  toRecord,
  type Judgement,
  type RecordFacts,
} from './record';
import { connect } from './connect';
import type { Session } from './session';
import { rehearsalSettings, toSqlSettings, type SqlSettings } from '../staging-settings';
import { rejected, rejectedAsStale } from '../../rejected';
import { toSqlFailure, toTargetFailure } from './sql-failure';

/**
 * Reads the tables of a change and returns the work to run. It must call the gate before it locks or changes a row, and end if the
 * gate returns an outcome.
 */
export type Prepare = (session: Session, gate: Gate) => Promise<Prepared>;
export type Gate = (works: readonly Work[]) => Promise<NotCaptured | null>;
export type Prepared =
  { readonly ok: true; readonly works: readonly Work[] } | { readonly ok: false; readonly outcome: NotCaptured };

const MAX_RUNS = 3;
/** The server terminates a rehearsal whose client does not continue. */
const REHEARSAL_IDLE_MS = 2_000;

interface Run {
  readonly captured: Captured;
  readonly columns: WrittenColumns;
}

interface Rehearsal {
  readonly ctx: StageContext;
  readonly prepare: Prepare;
  readonly settings: SqlSettings;
  readonly budget: Budget;
  readonly session: Session;
}

/** Throws TARGET_UNAVAILABLE (retryable, nothing was executed) or CONFIGURATION_ERROR. Every other outcome is returned. */
export async function rehearse(ctx: StageContext, prepare: Prepare): Promise<Staged> {
  const settings = toSqlSettings(ctx.settings);
  const budget = new Budget(settings.rehearsalTimeoutMs);
  const session = await connect(ctx, rehearsalSettings(settings, budget.remainingMs), {
    idleMs: REHEARSAL_IDLE_MS,
  });
  let end = session.close;
  try {
    const result = await runUntilAgreed({ ctx, prepare, settings, budget, session });
    if (result.kind === 'staged') end = session.release;
    return result;
  } finally {
    await end();
  }
}

async function runUntilAgreed(rehearsal: Rehearsal): Promise<Staged> {
  const { ctx, settings } = rehearsal;
  const facts = { sourceTool: ctx.diff.sourceTool, target: ctx.target.name, settings };
  let last: Capture | null = null;
  let judgement = NOTHING;
  for (let run = 1; ; run++) {
    const { captured, columns } = await runOnce(rehearsal, run);
    if (captured.kind === 'not_rehearsed')
      return { kind: 'staged', record: notRehearsed(captured.works, captured.reasons, facts), preview: {} };
    if (captured.kind !== 'captured') return toRejected(ctx.target.name, captured);
    const { capture } = captured;
    if (last === null && changesNothing(capture)) return staged(facts, capture, NOTHING);
    let agree = false;
    if (last !== null) ({ judgement, agree } = judgeRuns(last, capture));
    if (agree || run === MAX_RUNS) {
      const explained = explainVolatile(judgement, capture, columns, settings.volatileColumns);
      const counts =
        agree || judgement.unstable.size > 0 ? [] : ['two dry runs did not change the same number of rows'];
      return staged(facts, capture, { ...explained, reasons: [...explained.reasons, ...counts] });
    }
    last = capture;
  }
}

function staged(facts: RecordFacts, capture: Capture, judgement: Judgement): Staged {
  const record = toRecord(capture, judgement, facts);
  const parsed = StagingRecord.safeParse(record);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return rejected(
      `the staging record of this change is invalid (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}); submit the change in smaller parts`,
    );
  }
  return { kind: 'staged', record: parsed.data, preview: previewOf(capture, parsed.data.notCompared) };
}

async function runOnce({ ctx, prepare, settings, budget, session }: Rehearsal, run: number): Promise<Run> {
  if (budget.isExceeded || budget.remainingMs <= 0) return { captured: budget.exceeded(), columns: new Map() };
  const limited = rehearsalSettings(settings, budget.remainingMs);
  let columns: WrittenColumns = new Map();
  const stop = budget.start(() => session.abandon());
  try {
    if (run > 1) await session.begin(limited);
    const prepared = await prepare(session, async (works) => {
      const checked = await checkRehearsable(session, works, limited);
      if (!checked.ok) return checked.outcome;
      columns = checked.columns;
      return null;
    });
    const captured = prepared.ok
      ? await captureWork(session, prepared.works, limited, { checked: true, guard: rowGuard(session, limited) })
      : prepared.outcome;
    return { captured: captured.kind === 'failed' && budget.isExceeded ? budget.exceeded() : captured, columns };
  } catch (error) {
    if (budget.isExceeded) return { captured: budget.exceeded(), columns };
    const busy = busyWith(error, 'the dry run');
    if (busy !== null) return { captured: { kind: 'declined', explanation: busy }, columns };
    throw toTargetFailure(ctx.target.name, toSqlFailure(error, 'the dry run'));
  } finally {
    stop();
    await session.rollback();
  }
}

/** The time that all runs together may take. */
class Budget {
  #spentMs = 0;
  #exceeded = false;

  constructor(readonly limitMs: number) {}

  get remainingMs(): number {
    return this.limitMs - Math.round(this.#spentMs);
  }

  get isExceeded(): boolean {
    return this.#exceeded;
  }

  /** Calls `onExceeded` when the time is over, unless the returned function is called before. */
  start(onExceeded: () => unknown): () => void {
    const began = performance.now();
    const timer = setTimeout(() => {
      this.#exceeded = true;
      onExceeded();
    }, this.remainingMs);
    return () => {
      clearTimeout(timer);
      this.#spentMs += performance.now() - began;
    };
  }

  exceeded(): NotCaptured {
    return {
      kind: 'declined',
      explanation: `the dry run took longer than ${this.limitMs} ms; submit a smaller change, or one whose condition an index supports`,
    };
  }
}

/** A lock or statement timeout or a deadlock: the result of this dry run. Retrying it would put the same load on the target again. */
function busyWith(error: unknown, place: string): string | null {
  const code = error instanceof DatabaseError ? (error.code ?? '') : '';
  const words = BUSY[code];
  return words === undefined ? null : `${place}: ${words} (${code}); submit the change again later`;
}

const BUSY: Readonly<Record<string, string>> = {
  '55P03': 'another session has locked the rows or tables of this change',
  '57014': 'the statement took longer than a dry run may take',
  '40P01': 'deadlock with another session',
  '40001': 'another session changes the same rows',
  '25P03': 'the dry run was suspended for too long',
  '25P04': 'the dry run took longer than it may take',
};

function toRejected(target: string, captured: Exclude<NotCaptured, { readonly kind: 'not_rehearsed' }>): Staged {
  switch (captured.kind) {
    case 'declined':
      return rejected(captured.explanation);
    case 'missed':
      return captured.found === 0 ? rejectedAsStale(captured.explanation) : rejected(captured.explanation);
    case 'failed': {
      const busy = busyWith(captured.error, captured.place);
      if (busy !== null) return rejected(busy);
      const failure = toSqlFailure(captured.error, captured.place);
      if (failure.kind !== 'refused') throw toTargetFailure(target, failure);
      return rejected(failure.explanation);
    }
    default:
      return captured satisfies never;
  }
}

function changesNothing(capture: Capture): boolean {
  return capture.rows.length === 0 && capture.counted.size === 0 && capture.incomplete.size === 0;
}
