import type { LedgerRow } from '../../../policy/contracts/ledger';

/** One finding as a row `findings` contains it. */
export type WrittenFinding = Readonly<Record<string, unknown>> & { readonly validator_id: string };

/** The findings in a row; empty for a row of another kind. */
export function findingsIn({ kind, body }: LedgerRow): readonly WrittenFinding[] {
  return kind === 'findings' ? (body['findings'] as unknown as readonly WrittenFinding[]) : [];
}

/** The row with other findings, or unchanged if it is of another kind. */
export function withFindings(row: LedgerRow, edit: (finding: WrittenFinding) => WrittenFinding | null): LedgerRow {
  if (row.kind !== 'findings') return row;
  const findings = findingsIn(row).flatMap((finding) => edit(finding) ?? []);
  return { ...row, body: { findings } as unknown as LedgerRow['body'] };
}

/** The row without the finding of a validator. */
export const withoutFinding = (row: LedgerRow, id: string): LedgerRow =>
  withFindings(row, (finding) => (finding.validator_id === id ? null : finding));
