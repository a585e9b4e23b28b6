/**
 * Ends a change exactly once.
 *
 * E1 The ledger fact `settlement` is written once for each change: `intent` (a commit has begun) or `decided` (it is rolled
 *    back). A second writer gets the existing row. Without a settlement there is no effect. The ledger refuses both if a row that they
 *    depend on, such as a statement of a person, came after the rows that were verified, and refuses such rows after the settlement.
 * E2 After `intent` the target's marker decides the outcome. If there is no effect, the marker is sealed before the change is
 *    closed, so that a delayed attempt cannot apply the change later. In cooperative mode the receipt is the marker: the
 *    requester applies nothing without it, and it is written once.
 * E3 A change that has a receipt returns it to every call. If the receipt cannot be read, no second one is issued.
 * E4 The receipt binds every text that is shown with it: explanation, findings, violations, effect, and the head of the rows.
 */
import { canonicalJson, toWellFormed, type JsonObject } from '../../policy/contracts/canonical-json';
import { Envelope } from '../../policy/contracts/diff';
import { CountersignFailure } from '../../policy/contracts/failure';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import { explanationSha, ReceiptPredicate, RollbackReason, violationsSha } from '../../policy/contracts/outcome';
import type { Plan } from '../../policy/contracts/plan';
import { PolicyViolation } from '../../policy/contracts/violation';
import { breakerSamples } from '../../policy/decide/breaker-samples';
import { findingsSha } from '../../policy/decide/findings';
import type { StoredRow } from '../../policy/evidence/chain';
import type { Ledger, LedgerEntry } from '../../policy/evidence/ledger-port';
import type { ChangeHead } from '../../policy/evidence/predicates';
import { disclosedFindings } from '../../policy/evidence/disclosed-findings';
import { recordedFindings, untilSettled, type RecordedChange } from '../../policy/evidence/recorded-findings';
import type { BreakerStore } from '../../storage/breakers/breakers';
import { MAX_BODY_CHARS } from '../../storage/database/canonical-row-sql';
import type { WithChangeLock } from '../../storage/ledger/with-change-lock';
import type { PlanSource } from '../../storage/plans/plan-source';
import type { Settled } from '../review-types';
import { GENESIS, ledgerHash, type LedgerRow } from '../../policy/contracts/ledger';

export interface ReceiptSigner {
  readonly keyId: string;
  readonly sign: (predicate: ReceiptPredicate) => Envelope;
  readonly signHead: (predicate: ChangeHead) => Envelope;
}

export interface SettlementDeps {
  readonly ledger: Ledger;
  readonly withChangeLock: WithChangeLock;
  readonly plans: PlanSource;
  readonly receipts: ReceiptSigner;
  readonly breakerRows: Pick<BreakerStore, 'compact'>;
  readonly now: () => Date;
}

/** The members of the receipt that do not depend on how the change ended. */
export type ReceiptFacts = Omit<
  ReceiptPredicate,
  | 'action'
  | 'state'
  | 'reason'
  | 'effect'
  | 'explanationSha'
  | 'findingsSha'
  | 'violationsSha'
  | 'headSha'
  | 'keyId'
  | 'at'
>;

/** The settlement in the ledger. `at` is the time of the row, which another process may have written. */
type RecordedSettlement =
  | { readonly kind: 'intent'; readonly at: string; readonly body: JsonObject }
  | ({ readonly kind: 'decided' } & RecordedReason);

interface RecordedReason {
  readonly reason: RollbackReason;
  readonly explanation: string;
}

/**
 * E1. Records that the change is rolled back for a reason that no row can contradict, unless it is settled. Returns the recorded
 * settlement, which can be another one.
 */
export async function beginRollback(
  deps: SettlementDeps,
  changeId: string,
  reason: RecordedReason,
): Promise<RecordedSettlement> {
  const recorded = await beginVerifiedRollback(deps, changeId, { ...reason, at: deps.now().toISOString() });
  if (recorded === 'moved') throw new Error('The ledger refused to record a rollback');
  return recorded;
}

/**
 * E1. As `beginRollback`, for a reason that the rows up to `lastN` supported at the time `at`, which the row has, so that offline
 * verification checks the same moment. `moved`: nothing was recorded, because a later row may contradict it.
 */
export function beginVerifiedRollback(
  deps: SettlementDeps,
  changeId: string,
  { reason, explanation, at }: RecordedReason & { readonly at: string },
  lastN?: number,
): Promise<RecordedSettlement | 'moved'> {
  const body = { reason, explanation: toWellFormed(explanation) };
  return settle(deps, changeId, { kind: 'decided', at, body }, lastN);
}

/**
 * E1. Records that a commit begins, unless the change is settled. `lastN`: number of the last row that was verified. `moved`: nothing was
 * recorded, because a later row may forbid the commit.
 */
export function beginCommit(
  deps: SettlementDeps,
  changeId: string,
  { verifiedAt, lastN }: { readonly verifiedAt: string; readonly lastN: number },
  body: JsonObject,
): Promise<RecordedSettlement | 'moved'> {
  return settle(deps, changeId, { kind: 'intent', at: verifiedAt, body }, lastN);
}

async function settle(
  { ledger }: SettlementDeps,
  changeId: string,
  row: Pick<LedgerEntry, 'kind' | 'at' | 'body'>,
  expectedN?: number,
): Promise<RecordedSettlement | 'moved'> {
  const entry = { ...row, factKey: 'settlement' };
  const [appended] = await ledger.append(changeId, [entry], { state: 'COMMITTING' }, expectedN);
  if (appended?.status === 'moved') return 'moved';
  const recorded = appended?.stored?.row;
  if (recorded === undefined) throw new Error('The ledger returned no settlement row');
  if (recorded.kind === 'intent') return { kind: 'intent', at: recorded.at, body: recorded.body };
  // An unknown reason must not keep the change open forever.
  return {
    kind: 'decided',
    reason: RollbackReason.catch('commit_failed').parse(recorded.body['reason']),
    explanation: String(recorded.body['explanation'] ?? ''),
  };
}

/** Of the findings in a receipt, whose row has other members too. */
const MAX_FINDINGS_CHARS = MAX_BODY_CHARS - 128 * 1024;

/**
 * Writes the rows `effect`, `receipt`, `closed` and `head` in one append, and returns the recorded receipt (E3). The receipt binds
 * findings and violations as the rows give them, and the last row before it (E4). `receipt` and `head` contain hashes of rows of the same
 * append, so these are computed here, under the lock of the change. If the ledger gave another hash, nothing would be written.
 */
export async function close(
  deps: SettlementDeps,
  facts: ReceiptFacts,
  end: {
    readonly state: 'COMMITTED' | 'ROLLED_BACK' | 'COMPENSATED';
    readonly reason: RollbackReason | null;
    readonly explanation: string;
    readonly effect: JsonObject | null;
  },
): Promise<Settled> {
  const { changeId } = facts;
  const at = deps.now().toISOString();
  const explanation = toWellFormed(end.explanation);
  const { state, reason, effect } = end;
  const plan = await planOf(deps.plans, facts.planHash);
  const entry = (kind: LedgerEntry['kind'], body: object): LedgerEntry => ({
    kind,
    at,
    factKey: kind,
    body: body as JsonObject,
  });
  const settled = await deps.withChangeLock(changeId, async (ledger, actor) => {
    const rows = await ledger.read(changeId);
    const recorded = settledOf(rows);
    if (recorded !== null) return recorded;
    const effectEntry = entry('effect', { state, effect, explanation });
    const effectRow = nextRow(changeId, rows.at(-1), effectEntry, actor);
    const action = state === 'COMMITTED' ? 'COMMIT' : 'ROLLBACK';
    const found = findingsAtEnd(plan, changeId, rows, { action, reason, stagingSha: facts.stagingSha });
    const disclosed = disclosedViolations(rows, plan);
    // Findings of several steps can be longer than one row. A rollback ends without them: their rows have them.
    const isTooLong = disclosed === null && canonicalJson(found).length > MAX_FINDINGS_CHARS;
    const findings = isTooLong && action === 'ROLLBACK' ? null : found;
    const violations = disclosed ?? [];
    const predicate: ReceiptPredicate = {
      ...facts,
      action,
      state,
      reason,
      effect: effect as ReceiptPredicate['effect'],
      explanationSha: explanationSha(explanation),
      findingsSha: findings === null ? null : findingsSha(findings),
      violationsSha: violationsSha(violations),
      headSha: effectRow.hash,
      keyId: deps.receipts.keyId,
      at,
    };
    const envelope = deps.receipts.sign(predicate);
    const samples = found === null ? {} : { samples: breakerSamples(found) };
    const receipt = entry('receipt', {
      envelope,
      predicate,
      explanation,
      findings: disclosed === null ? (findings ?? []) : null,
    });
    const closed = entry('closed', { state, reason, ...samples });
    const last = nextRow(changeId, nextRow(changeId, effectRow, receipt, actor), closed, actor);
    const head = { changeId, rows: last.row.n + 1, hash: last.hash, keyId: deps.receipts.keyId, at };
    const entries = [effectEntry, receipt, closed, entry('head', { envelope: deps.receipts.signHead(head) })];
    const appended = await ledger.append(changeId, entries, { state, reason, pending: 0, closedAt: at });
    if (appended.at(-1)?.stored?.row.prev !== last.hash)
      throw new Error(`The ledger wrote other rows for the end of ${changeId} than were signed`);
    return toSettled(predicate, explanation, envelope);
  });
  await deps.breakerRows.compact({ tenant: facts.tenant, sourceTool: facts.sourceTool });
  return settled;
}

/** The findings by the rows, in declared order. Null if the plan cannot be compiled here, or if a row is not valid. */
function findingsAtEnd(
  plan: Plan | null,
  changeId: string,
  rows: readonly StoredRow[],
  end: NonNullable<RecordedChange['end']>,
): readonly ValidatorFinding[] | null {
  if (plan === null) return null;
  try {
    return recordedFindings({ plan, changeId, rows: rows.map(({ row }) => row), end });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The pinned plan, also if it was revoked since. Null if none was pinned, or if this process cannot compile it. */
export async function planOf(plans: PlanSource, planHash: string | null): Promise<Plan | null> {
  if (planHash === null) return null;
  try {
    return (await plans.byHash(planHash, 'ignored')).plan;
  } catch (error) {
    if (error instanceof CountersignFailure && error.nonRetryable) return null;
    throw error;
  }
}

/** The disclosed violations; null without a readable row `disclosed` before the end. Its findings can be read only with the plan. */
function disclosedViolations(rows: readonly StoredRow[], plan: Plan | null): readonly PolicyViolation[] | null {
  const row = untilSettled(rows.map((stored) => stored.row)).find(({ kind }) => kind === 'disclosed');
  if (row === undefined || (plan !== null && disclosedFindings(plan, row) === null)) return null;
  return PolicyViolation.array().safeParse(row.body['violations']).data ?? null;
}

export function closeApplied(
  deps: SettlementDeps,
  facts: ReceiptFacts,
  { effect, shouldBeReverted }: { readonly effect: JsonObject; readonly shouldBeReverted?: string },
): Promise<Settled> {
  const end =
    shouldBeReverted === undefined
      ? { explanation: 'Committed', effect }
      : {
          explanation: `Committed, but it should be reverted: ${shouldBeReverted}. Submit the reverse as a new change`,
          effect: { ...effect, shouldBeReverted },
        };
  return close(deps, facts, { state: 'COMMITTED', reason: null, ...end });
}

export function closeRolledBack(
  deps: SettlementDeps,
  facts: ReceiptFacts,
  reason: RollbackReason,
  explanation: string,
): Promise<Settled> {
  return close(deps, facts, { state: 'ROLLED_BACK', reason, explanation, effect: null });
}

/** E3: the end by the receipt in the ledger; null without one, also if the change has a settlement (E1). */
export function settledOf(rows: readonly StoredRow[]): Settled | null {
  const row = rows.find((r) => r.row.kind === 'receipt')?.row;
  if (row === undefined) return null;
  const envelope = Envelope.safeParse(row.body['envelope']);
  const predicate = ReceiptPredicate.safeParse(row.body['predicate']);
  if (!envelope.success || !predicate.success)
    throw new Error(
      `The receipt in ledger row ${row.n} cannot be read: the change has ended, but only an operator can determine how`,
    );
  return toSettled(predicate.data, String(row.body['explanation'] ?? ''), envelope.data);
}

function toSettled(
  { state, reason, mode, planHash, stagingSha }: ReceiptPredicate,
  explanation: string,
  receipt: Envelope,
): Settled {
  return { state, reason, explanation, mode, planHash, stagingSha, receipt };
}

/** The row that the ledger will write for an entry after `last`, with the hash that it will have. Only while the change is locked. */
export function nextRow(
  changeId: string,
  last: StoredRow | undefined,
  { kind, at, body }: LedgerEntry,
  actor: string,
): StoredRow {
  const [n, prev] = [(last?.row.n ?? -1) + 1, last?.hash ?? GENESIS];
  const row: LedgerRow = { changeId, n, prev, kind, at, actor, body: body as LedgerRow['body'] };
  return { row, hash: ledgerHash(row) };
}
