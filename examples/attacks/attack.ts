import type { ReviewStatus } from '../../policy/contracts/status';
import { ENDED, ifRefused } from './if-refused';
import type { Row, Testbed } from './testbed';

/** One attempt to commit an unapproved change, or to make one look committed. */
export interface Attack {
  readonly name: string;
  /** How soon the committer looks for reviews whose workflow is gone: in seconds, or as it ships. */
  readonly reconciles?: 'in seconds';
  /** Rejects if the attack could not be carried out: it then proves nothing. */
  readonly run: (testbed: Testbed) => Promise<Attempt>;
}

export interface Attempt {
  /** The attacked review. */
  readonly changeId: string;
  /** Matches the ledger row of the refusal; null if the attack leaves none. */
  readonly refusal: ((row: Row) => boolean) | null;
  /** What refuses the attack, or what goes on in spite of it, if that has no row. `achieved` is null only if it did. */
  readonly by?: string;
  /**
   * The workflow returns an outcome that our committer did not sign: client, CLI and `verify` must report it as unverified. The text
   * is the reason that a client without a ledger gives.
   */
  readonly forged?: string;
  /** What the attack achieved other than an effect on a target; null if nothing, absent if this was not looked for. */
  readonly achieved?: string | null;
}

/** An attack that leaves no row. `by`: what refuses it, or goes on in spite of it. */
export const withoutRow = (changeId: string, by: string, achieved: string | null): Attempt => ({
  changeId,
  refusal: null,
  by,
  achieved,
});

/** What withstands a race between a commit and a statement that stops the change. */
export const NO_COMMIT_AFTER_STOP = 'no commit after a statement that stops the change was accepted';

/** Matches the refusal of an answer; `words` if the code has several reasons. */
export const answerRefused =
  (code: string, words = '') =>
  ({ kind, body }: Row): boolean =>
    kind === 'answer_refused' && body['code'] === code && String(body['message']).includes(words);

/** Matches the refusal of a commit by a check of the committer, or of another activity; `words` if the check has several reasons. */
export const refused =
  (check: string, words = '') =>
  ({ kind, body }: Row): boolean =>
    kind === 'refused' && body['check'] === check && String(body['explanation'] ?? '').includes(words);

/** The check that refused, by a row that records a refusal. */
export function refuser({ kind, body }: Row): string {
  if (kind === 'refused') return String(body['check']);
  if (kind === 'answer_refused') return `answer: ${String(body['code'])}`;
  if (kind === 'decided') return `decided: ${String(body['explanation'])}`;
  const { uncaptured } = (body['record'] ?? {}) as { readonly uncaptured?: readonly string[] };
  return `dry run: ${uncaptured?.[0] ?? String(body['explanation'])}`;
}

/** The validators that hold a change, or `closed` if it ended without a question to a person. Throws if it does neither in time. */
export async function heldBy(testbed: Testbed, changeId: string, withinMs = 60_000): Promise<readonly string[]> {
  const row = await testbed.waitForRow(changeId, ({ kind }) => kind === 'closed' || kind === 'disclosed', withinMs);
  if (row === null) throw new Error(`${changeId} neither ended nor asked a person in ${withinMs / 1000} s`);
  if (row.kind === 'closed') return ['closed'];
  return (row.body['violations'] as readonly { validatorId: string }[]).map(({ validatorId }) => validatorId);
}

/** Answers in the name of alice without a signature, one for each violation. */
export const unsignedAnswers = ({ violations, fingerprint }: ReviewStatus): readonly object[] =>
  violations.map(({ violationId }) => ({
    violationId,
    fingerprint,
    decision: 'confirm',
    reason: 'fine',
    actor: 'alice',
  }));

/** Alice and bob confirm, as far as the review still takes answers: it may end after the first. */
export async function confirmByBoth(testbed: Testbed, status: ReviewStatus): Promise<void> {
  for (const name of ['alice', 'bob'] as const)
    await ifRefused(testbed.update(status.changeId, testbed.sign(status, testbed.keyOf(name))), ENDED, null);
}

/** State and reason of the row `closed`; null if it is not written in time. */
export async function endInLedger(testbed: Testbed, changeId: string, withinMs: number): Promise<string | null> {
  const closed = await testbed.waitForRow(changeId, ({ kind }) => kind === 'closed', withinMs);
  if (closed === null) return null;
  return [closed.body['state'], closed.body['reason']].filter((each) => each !== null).join(' ');
}

/** A change that `guardian.orders` holds until one person of the group confirms it. */
export const refundOrder = (id: number) => ({
  sourceTool: 'SQLDryRun',
  raw: `update orders set status = 'refunded' where id = ${id}`,
  metadata: { table_name: 'orders', affected_rows: 1 },
});

/** A change that is held until two people confirm it. */
export const raisePay = (id: number) => ({
  sourceTool: 'SQLDryRun',
  raw: `update payroll set cents = cents + 100000 where id = ${id}`,
  metadata: { table_name: 'payroll', affected_rows: 1 },
});

/** A change that commits without an approval: no rule fires and the judge allows it. */
export const topUp = (id: number) => ({
  sourceTool: 'SQLDryRun',
  raw: `update accounts set balance = balance + 1 where id = ${id}`,
  metadata: { table_name: 'accounts', affected_rows: 1 },
});

/** What a committer returns after a commit, with a receipt of the attacker's choice. */
export const committed = (receipt: unknown) => ({
  state: 'COMMITTED',
  reason: null,
  explanation: 'Committed',
  mode: 'enforced',
  planHash: '0'.repeat(64),
  stagingSha: null,
  receipt,
});
