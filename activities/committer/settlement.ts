/**
 * How a change ends, exactly once.
 *
 * E1 The ledger fact `settlement` is written once for each change: `intent` (a commit has begun) or `decided` (it is rolled
 *    back). Whoever comes second reads what stands. No settlement, no effect (P8).
 * E2 After `intent` only the target's marker says how it ended; where no effect is found the marker is sealed first, so
 *    that an attempt which sleeps now cannot apply the change later (P2). In cooperative mode the receipt is the marker:
 *    without it nobody performs anything, and it is written once.
 * E3 A change that has a receipt returns it, whatever is asked; one whose receipt cannot be read gets no second one.
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

/** What the receipt says of the change, apart from how it ended. */
export type ReceiptFacts = Omit<ReceiptPredicate, 'action' | 'state' | 'reason' | 'effect' | 'keyId' | 'at'>;

/** `at` of an intent is that of the row that stands, whoever wrote it. */
export type Wanted =
  | { readonly kind: 'intent'; readonly verifiedAt: string }
  | { readonly kind: 'decided'; readonly reason: RollbackReason; readonly explanation: string };
export type Begun =
  | { readonly kind: 'intent'; readonly at: string }
  | { readonly kind: 'decided'; readonly reason: RollbackReason; readonly explanation: string };

/** E1. Returns what stands, which is not always what was asked. `first` is the projection of a change that was never opened. */
export async function begin(
  deps: SettlementDeps,
  changeId: string,
  wanted: Wanted,
  body: JsonObject,
  first: ProjectionPatch = {},
): Promise<Begun> {
  const said: JsonObject =
    wanted.kind === 'intent' ? {} : { reason: wanted.reason, explanation: toWellFormed(wanted.explanation) };
  const entry: LedgerEntry = {
    kind: wanted.kind,
    at: wanted.kind === 'intent' ? wanted.verifiedAt : deps.now().toISOString(),
    actor: deps.actor,
    factKey: 'settlement',
    body: { ...body, ...said },
  };
  const [appended] = await deps.ledger.append(changeId, [entry], { ...first, state: 'COMMITTING' });
  const stands = appended?.stored?.row;
  if (stands === undefined) throw new Error('The ledger did not say what stands');
  if (stands.kind === 'intent') return { kind: 'intent', at: stands.at };
  // A reason that nobody knows must not keep the change open for ever.
  return {
    kind: 'decided',
    reason: RollbackReasonSchema.catch('commit_failed').parse(stands.body['reason']),
    explanation: String(stands.body['explanation'] ?? ''),
  };
}

/** Writes effect, receipt and closing row in one transaction, and returns the receipt that stands (E3). */
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
  const stands = receipt?.stored;
  if (stands === undefined || stands === null) throw new Error('The ledger did not say which receipt stands');
  return settledFrom(stands);
}

export function closeRolledBack(
  deps: SettlementDeps,
  facts: ReceiptFacts,
  reason: RollbackReason,
  explanation: string,
): Promise<Settled> {
  return close(deps, facts, { state: 'ROLLED_BACK', reason, explanation, effect: null });
}

/** E3: the end that the ledger holds already, or null. */
export function settledOf(rows: readonly StoredRow[]): Settled | null {
  const row = rows.find((r) => r.row.kind === 'receipt');
  return row === undefined ? null : settledFrom(row);
}

function settledFrom({ row }: StoredRow): Settled {
  const envelope = EnvelopeSchema.safeParse(row.body['envelope']);
  const predicate = ReceiptSchema.safeParse(row.body['predicate']);
  if (!envelope.success || !predicate.success)
    throw new Error(
      `Row ${row.n} of the ledger is a receipt that cannot be read; the change has ended, and only an operator can say how`,
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
