import type { Ground, Row } from './ground';

/** One attempt to get an unapproved change committed, or to have one taken for committed. */
export interface Attack {
  readonly name: string;
  /** Fails where the attack could not be made at all: then it has shown nothing. */
  readonly run: (ground: Ground) => Promise<Attempt>;
}

export interface Attempt {
  /** The review that it was aimed at. */
  readonly changeId: string;
  /** The row by which the ledger has the refusal; null where no process of ours was reached, so that none could refuse. */
  readonly refusal: ((row: Row) => boolean) | null;
  /** The workflow ends with an outcome that nobody of ours signed: client, CLI and `verify` must say so. */
  readonly forged?: boolean;
}

/** The refusal of an answer. */
export const answerRefused =
  (code: string) =>
  ({ kind, body }: Row): boolean =>
    kind === 'answer_refused' && body['code'] === code;

/** The refusal of a commit by one of the committer's checks, or of another activity. */
export const refused =
  (...checks: readonly string[]) =>
  ({ kind, body }: Row): boolean =>
    kind === 'refused' && checks.includes(String(body['check']));

/** A change of the shop that is held by `guardian.orders`, for one person of the group. */
export const refundOrder = (id: number) => ({
  sourceTool: 'SQLDryRun',
  raw: `update orders set status = 'refunded' where id = ${id}`,
  metadata: { table_name: 'orders', affected_rows: 1 },
});

/** Held until two people have confirmed it. */
export const raisePay = (id: number) => ({
  sourceTool: 'SQLDryRun',
  raw: `update payroll set cents = cents + 100000 where id = ${id}`,
  metadata: { table_name: 'payroll', affected_rows: 1 },
});

/** Passes by itself: no rule and no judge objects. */
export const topUp = (id: number) => ({
  sourceTool: 'SQLDryRun',
  raw: `update accounts set balance = balance + 1 where id = ${id}`,
  metadata: { table_name: 'accounts', affected_rows: 1 },
});
