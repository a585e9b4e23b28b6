/**
 * Ends a change exactly once.
 *
 * E1 The ledger fact `settlement` is written once for each change: `intent` (a commit has begun) or `decided` (it is rolled
 *    back). A second writer gets the existing row. Without a settlement there is no effect.
 * E2 After `intent` the target's marker decides the outcome. If there is no effect, the marker is sealed before the change is
 *    closed, so that a delayed attempt cannot apply the change later. In cooperative mode the receipt is the marker: the
 *    requester applies nothing without it, and it is written once.
 * E3 A change that has a receipt returns it to every call. If the receipt cannot be read, no second one is issued.
 */
import { toWellFormed, type JsonObject } from '../../policy/contracts/canonical-json';
import type { Envelope } from '../../policy/contracts/diff';
import { Envelope as EnvelopeSchema } from '../../policy/contracts/diff';
import type { ReceiptPredicate, RollbackReason } from '../../policy/contracts/outcome';
import {
  ReceiptPredicate as ReceiptSchema,
  RollbackReason as RollbackReasonSchema,
} from '../../policy/contracts/outcome';
import type { StoredRow } from '../../policy/evidence/chain';
import type { Ledger, LedgerEntry, ProjectionPatch } from '../../policy/evidence/ledger-port';
import type { Settled } from '../review-types';

export interface ReceiptSigner {
  readonly keyId: string;
  readonly sign: (predicate: ReceiptPredicate) => Envelope;
}

export interface SettlementDeps {
  readonly ledger: Ledger;
  readonly receipts: ReceiptSigner;
  readonly now: () => Date;
  readonly actor: string;
}

/** The members of the receipt that do not depend on how the change ended. */
export type ReceiptFacts = Omit<ReceiptPredicate, 'action' | 'state' | 'reason' | 'effect' | 'keyId' | 'at'>;

export type SettlementRequest =
  | { readonly kind: 'intent'; readonly verifiedAt: string }
  | { readonly kind: 'decided'; readonly reason: RollbackReason; readonly explanation: string };
/** The settlement in the ledger. `at` is the time of the row, which another process may have written. */
export type RecordedSettlement =
  | { readonly kind: 'intent'; readonly at: string }
  | { readonly kind: 'decided'; readonly reason: RollbackReason; readonly explanation: string };

/** E1. Returns the recorded settlement, which can differ from `wanted`. `first`: projection of a change that was never opened. */
export async function begin(
  deps: SettlementDeps,
  changeId: string,
  wanted: SettlementRequest,
  body: JsonObject,
  first: ProjectionPatch = {},
): Promise<RecordedSettlement> {
  const end: JsonObject =
    wanted.kind === 'intent' ? {} : { reason: wanted.reason, explanation: toWellFormed(wanted.explanation) };
  const entry: LedgerEntry = {
    kind: wanted.kind,
    at: wanted.kind === 'intent' ? wanted.verifiedAt : deps.now().toISOString(),
    actor: deps.actor,
    factKey: 'settlement',
    body: { ...body, ...end },
  };
  const [appended] = await deps.ledger.append(changeId, [entry], { ...first, state: 'COMMITTING' });
  const row = appended?.stored?.row;
  if (row === undefined) throw new Error('The ledger returned no settlement row');
  if (row.kind === 'intent') return { kind: 'intent', at: row.at };
  // An unknown reason must not keep the change open forever.
  return {
    kind: 'decided',
    reason: RollbackReasonSchema.catch('commit_failed').parse(row.body['reason']),
    explanation: String(row.body['explanation'] ?? ''),
  };
}

/** Writes the rows `effect`, `receipt` and `closed` in one transaction, and returns the recorded receipt (E3). */
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
  const at = deps.now().toISOString();
  const explanation = toWellFormed(end.explanation);
  const predicate: ReceiptPredicate = {
    ...facts,
    action: end.state === 'COMMITTED' ? 'COMMIT' : 'ROLLBACK',
    state: end.state,
    reason: end.reason,
    effect: end.effect as ReceiptPredicate['effect'],
    keyId: deps.receipts.keyId,
    at,
  };
  const envelope = deps.receipts.sign(predicate);
  const row = (kind: LedgerEntry['kind'], body: JsonObject): LedgerEntry => ({
    kind,
    at,
    actor: deps.actor,
    factKey: kind,
    body,
  });
  const rows = [
    row('effect', { state: end.state, effect: end.effect, explanation }),
    row('receipt', {
      envelope: envelope as unknown as JsonObject,
      predicate: predicate as unknown as JsonObject,
      explanation,
    }),
    row('closed', { state: end.state, reason: end.reason }),
  ];
  const [, receipt] = await deps.ledger.append(facts.changeId, rows, {
    state: end.state,
    reason: end.reason,
    pending: 0,
    closedAt: at,
  });
  const stored = receipt?.stored;
  if (stored === undefined || stored === null) throw new Error('The ledger returned no receipt row');
  return settledFrom(stored);
}

export function closeRolledBack(
  deps: SettlementDeps,
  facts: ReceiptFacts,
  reason: RollbackReason,
  explanation: string,
): Promise<Settled> {
  return close(deps, facts, { state: 'ROLLED_BACK', reason, explanation, effect: null });
}

/** E3: the end that is recorded in the ledger, or null. */
export function settledOf(rows: readonly StoredRow[]): Settled | null {
  const row = rows.find((r) => r.row.kind === 'receipt');
  return row === undefined ? null : settledFrom(row);
}

function settledFrom({ row }: StoredRow): Settled {
  const envelope = EnvelopeSchema.safeParse(row.body['envelope']);
  const predicate = ReceiptSchema.safeParse(row.body['predicate']);
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
