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
  /** What refuses the attack, or what goes on in spite of it, if that has no row. `check` asserts it. */
  readonly by?: string;
  /**
   * The workflow returns an outcome that our committer did not sign: client, CLI and `verify` must report it as unverified. The text
   * is the reason that a client without a ledger gives.
   */
  readonly forged?: string;
  /** Null if the attack was withstood; otherwise what it achieved other than an effect on the target. */
  readonly check?: () => Promise<string | null>;
}

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
