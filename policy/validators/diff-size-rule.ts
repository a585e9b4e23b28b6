import type { DiffInput } from '../contracts/diff';
import { APPROVED, checkName, type Rule, type RuleResult } from './rule';

const POINTER = '/affected_rows';

/**
 * Blocks if the claim `metadata.affected_rows` exceeds `maxRows`. Does not read the bytes: `guardian.metadata_mismatch`
 * verifies the claim. A missing claim warns; a claim that is not a finite number of at least 0, such as the string "12",
 * blocks.
 */
export function diffSizeRule({ name, maxRows }: { readonly name: string; readonly maxRows: number }): Rule {
  checkName('DiffSizeRule', name);
  if (!Number.isSafeInteger(maxRows) || maxRows < 0)
    throw new TypeError(`DiffSizeRule "${name}", maxRows: expected an integer of at least 0, got ${String(maxRows)}`);
  return Object.freeze({ name, apply: (diff: DiffInput) => apply(diff, maxRows) });
}

function apply(diff: DiffInput, maxRows: number): RuleResult {
  if (!Object.hasOwn(diff.metadata, 'affected_rows')) return fail('warn', 'the metadata has no affected_rows');
  const rows = diff.metadata['affected_rows'];
  if (typeof rows !== 'number' || !Number.isFinite(rows) || rows < 0)
    return fail('block', 'affected_rows is not a number of at least 0');
  return rows > maxRows ? fail('block', `${rows} rows exceed the limit of ${maxRows}`) : APPROVED;
}

function fail(severity: 'warn' | 'block', reason: string): RuleResult {
  return { approved: false, severity, reason, places: [{ kind: 'metadata', pointer: POINTER }] };
}
