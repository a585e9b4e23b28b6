import { z } from 'zod';
import { touchedRows } from '../../../policy/contracts/readings';
import { defineRule, type RuleOutcome, type ValidatorInput } from '../../../policy/rules/define';
import { diffEvidence, stagingEvidence } from '../../../policy/contracts/facts';
import { packRule, pageOf } from '../../../policy/rules/rule-maker';
import type { SqlExamples, SqlRule } from './define-sql-rule';

const MaxRows = (rows: number): z.ZodType<{ maxRows: number }> =>
  z.strictObject({ maxRows: z.int().min(0).default(rows) });

/** Uses the row counts of the dry run, including rows that were not captured, and never the caller's claim. Exactly `maxRows` passes. */
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
    reason: `The dry run changed ${rows} rows, more than the limit of ${maxRows}`,
    reasonCode: 'too_many_rows',
    evidence: [stagingEvidence(sha, '/tables')],
    details: { rows, maxRows, tables: tables.slice(0, 20) },
  };
}

/** Outcome of a rule that needs the staging record if there is none: an ERROR, so the rule fails closed. */
export function noRecord(input: Pick<ValidatorInput, 'diff'>): RuleOutcome {
  return {
    fires: true,
    reason: 'The staging record is missing',
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
    logicRevision: 3,
    defaultLevel,
    why,
    docs: pageOf('sql-postgres', name),
    config: MaxRows(rows),
    reads: ['staging'],
    sourceTools: ['SQLDryRun', 'SQLCAS'],
    apply: tooManyRows,
  });
  return { ...packRule(definition, examples), examples };
}

const update = 'UPDATE orders SET paid = true WHERE id < 5000';

export const affectedRows = rowRule(
  'sql_affected_rows',
  'confirm',
  1000,
  'The dry run changed many rows, regardless of what the agent declared.',
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
  'A change of this size needs a planned migration, not a review.',
  {
    bad: update,
    good: update,
    rows: { bad: 100_001, good: 100_000 },
  },
);
