/**
 * Unreadable rows that a process appended: a record without a signature, a finding without its members. They decide nothing,
 * because a validator without a readable row has no result. They are reported, and the review stays readable. A signed record that
 * does not verify is different: then the check `attested` fails.
 */
import { Envelope } from '../contracts/diff';
import { ValidatorFinding } from '../contracts/finding';
import type { LedgerKind, LedgerRow } from '../contracts/ledger';

export interface UnreadableRow {
  readonly n: number;
  readonly kind: LedgerKind;
  readonly problem: string;
}

export function unreadableRows(rows: readonly LedgerRow[]): readonly UnreadableRow[] {
  return rows.flatMap((row): UnreadableRow[] => {
    const problem = problemOf(row);
    return problem === null ? [] : [{ n: row.n, kind: row.kind, problem }];
  });
}

/** One line for people. */
export function unreadableRowText({ n, kind, problem }: UnreadableRow): string {
  return `row ${n} (${kind}) is unreadable and does not count: ${problem}`;
}

/** The finding in a row `findings`; null if it cannot be read. */
export function findingOfRow({ body }: LedgerRow): ValidatorFinding | null {
  const { detectedAt, ...report } = body;
  return ValidatorFinding.safeParse({ ...report, phase: detectedAt }).data ?? null;
}

function problemOf(row: LedgerRow): string | null {
  if (row.kind === 'findings') return findingOfRow(row) === null ? 'not a valid finding' : null;
  if (row.kind !== 'attested') return null;
  return Envelope.safeParse(row.body['envelope']).success ? null : 'it contains no signed record';
}
