/**
 * Unreadable rows that a process appended: a record without a signature, a finding without its members. They decide nothing,
 * because a validator without a readable row has no result. They are reported, and the review stays readable. A signed record that
 * does not verify is different: then the check `attested` fails.
 */
import { frozenJson, isJsonObject, type JsonValue } from '../contracts/canonical-json';
import { Envelope } from '../contracts/diff';
import { ValidatorFinding } from '../contracts/finding';
import type { LedgerKind, LedgerRow } from '../contracts/ledger';
import { memoizeByObject } from '../text/memoize';

interface UnreadableRow {
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

/**
 * The findings in a row of this kind, in the order of the plan; null if one of them cannot be read, or in a row of another kind.
 * Memoized: rows do not change, and each check reads them.
 */
export const findingsOfRow = memoizeByObject(readFindings);

function readFindings({ kind, body }: LedgerRow): readonly ValidatorFinding[] | null {
  const written = kind === 'findings' ? body['findings'] : null;
  if (!Array.isArray(written)) return null;
  const parsed = ValidatorFinding.array().safeParse(written.map(withPhase));
  return parsed.success ? Object.freeze(parsed.data.map(frozenJson)) : null;
}

function withPhase(written: JsonValue): JsonValue {
  if (!isJsonObject(written)) return written;
  const { detectedAt, ...report } = written;
  return { ...report, phase: detectedAt ?? null };
}

function problemOf(row: LedgerRow): string | null {
  if (row.kind === 'findings') return findingsOfRow(row) === null ? 'not a list of valid findings' : null;
  if (row.kind !== 'attested') return null;
  return Envelope.safeParse(row.body['envelope']).success ? null : 'it contains no signed record';
}
