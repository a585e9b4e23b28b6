import { z } from 'zod';
import { touchedRows } from '../../../policy/contracts/readings';
import { defineRule, type RuleOutcome, type ValidatorInput } from '../../../policy/rules/define';
import { diffEvidence, stagingEvidence } from '../../../policy/contracts/facts';
import { made, pageOf } from '../../../policy/rules/rule-maker';
import type { SqlExamples, SqlRule } from './define-sql-rule';

const MaxRows = (rows: number): z.ZodType<{ maxRows: number }> =>
  z.strictObject({ maxRows: z.int().min(0).default(rows) });

/** Rows as the dry run counted them, captured or not; never the caller's claim. Exactly `maxRows` passes (F34). */
function tooManyRows(input: ValidatorInput<{ maxRows: number }>): RuleOutcome {
  if (input.staging === null) return noRecord(input);
  const { record, sha } = input.staging;
  const rows = touchedRows(record);
  const { maxRows } = input.config;
  if (rows <= maxRows) return { fires: false };
  const tables = record.tables
    .map((t) => ({ table: t.table, rows: t.inserted + t.updated + t.deleted }))
    .filter((t) => t.rows > 0);
  return {
    fires: true,
    reason: `The dry run touched ${rows} rows, more than ${maxRows}`,
    reasonCode: 'too_many_rows',
    evidence: [stagingEvidence(sha, '/tables')],
    details: { rows, maxRows, tables: tables.slice(0, 20) },
  };
}

/** A rule that reads the dry run has no answer without it: an ERROR, never a pass. */
export function noRecord(input: Pick<ValidatorInput, 'diff'>): RuleOutcome {
  return {
    fires: true,
    reason: 'There is no staging record to read',
    reasonCode: 'staging_missing',
    errorClass: 'ErrValidatorBackend',
    evidence: [diffEvidence(input.diff.diffSha, { startLine: 1, startColumn: 1, endLine: 1, endColumn: 1 })],
  };
}

function rowRule(
  name: string,
  defaultLevel: 'confirm' | 'forbid',
  rows: number,
  why: string,
  examples: SqlExamples,
): SqlRule {
  const definition = defineRule<{ maxRows: number }>({
    name,
    pack: 'sql-postgres',
    logicRevision: 2,
    defaultLevel,
    why,
    docs: pageOf('sql-postgres', name),
    config: MaxRows(rows),
    reads: ['staging'],
    sourceTools: ['SQLDryRun', 'SQLCAS'],
    apply: tooManyRows,
  });
  return { ...made(definition, examples), examples };
}

const update = 'UPDATE orders SET paid = true WHERE id < 5000';

export const affectedRows = rowRule(
  'sql_affected_rows',
  'confirm',
  1000,
  'Many rows change at once, whatever the agent said it would touch.',
  {
    bad: update,
    good: update,
    rows: { bad: 1001, good: 1000 },
  },
);

export const affectedRowsLimit = rowRule(
  'sql_affected_rows_limit',
  'forbid',
  100_000,
  'A change of this size belongs in a planned migration, not in a review.',
  {
    bad: update,
    good: update,
    rows: { bad: 100_001, good: 100_000 },
  },
);
