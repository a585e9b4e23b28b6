import { z } from 'zod';
import type { StagingRecord } from '../../../policy/contracts/staging-record';
import { touchedRows } from '../../../policy/contracts/readings';
import { defineRule, type RuleOutcome, type ValidatorInput } from '../../../policy/rules/define';
import { diffEvidence, stagingEvidence } from '../../../policy/contracts/facts';
import { packRule, pageOf, unavailable, unexpectedKind } from '../../../policy/rules/rule-maker';
import { claimedRows } from '../../../policy/text/claimed-rows';
import type { SqlFacts } from '../facts/sql-facts';
import { SQL_PARSER } from '../facts/sql-parser';
import type { SqlExamples, SqlRule } from './define-sql-rule';

interface Limit {
  readonly maxRows: number;
}
interface Limits extends Limit {
  readonly maxUnclaimedRows: number;
}

/** Uses the row counts of the dry run, including rows that were not captured, and never the caller's claim. Exactly `maxRows` passes. */
function tooManyRows(input: ValidatorInput<Limit>): RuleOutcome {
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

/** Also limits the rows of an UPDATE, DELETE or MERGE that its condition does not name, if the change does not claim their number. */
function tooManyUnclaimedRows(input: ValidatorInput<Limits>): RuleOutcome {
  if (input.diff.sourceTool !== 'SQLDryRun') return tooManyRows(input);
  const { facts } = input;
  if (!facts.ok) return unavailable(input, facts);
  if (facts.kind !== 'sql') return unexpectedKind(input, facts.kind, 'sql');
  const many = tooManyRows(input);
  // A claim that differs from the dry run is a finding of metadata_mismatch.
  if (many.fires || input.staging === null || claimedRows(input.diff.metadata) !== null) return many;
  const { record, sha } = input.staging;
  const unnamed = record.statements.flatMap((statement, index) => unnamedRows(facts as SqlFacts, statement, index));
  const rows = unnamed.reduce((sum, each) => sum + each.rows, 0);
  const { maxUnclaimedRows } = input.config;
  if (rows <= maxUnclaimedRows) return { fires: false };
  return {
    fires: true,
    reason: `Without affected_rows, the dry run changed ${rows} rows that no key in a condition names, more than the limit of ${maxUnclaimedRows}`,
    reasonCode: 'unclaimed_rows',
    evidence: unnamed.slice(0, 20).map(({ index }) => stagingEvidence(sha, `/statements/${index}`)),
    details: { rows, maxUnclaimedRows },
    recommendedActions: ['Compare a unique key with constants, or declare the number of rows in affected_rows.'],
  };
}

/** The statement and its rows if it changed more rows than its condition names key values, so these are not values of a unique key. */
function unnamedRows(
  facts: SqlFacts,
  { command, rowCount }: StagingRecord['statements'][number],
  index: number,
): readonly { readonly index: number; readonly rows: number }[] {
  if (!KEYED.has(command) || rowCount === 0) return [];
  const write = facts.dml.find((d) => d.statement === index && d.via.length === 0);
  return rowCount <= (write?.keyValues ?? 0) ? [] : [{ index, rows: rowCount }];
}

const KEYED = new Set(['UPDATE', 'DELETE', 'MERGE']);

/** The staging record is missing: an ERROR, so the rule fails closed. */
function noRecord(input: Pick<ValidatorInput, 'diff'>): RuleOutcome {
  return {
    fires: true,
    reason: 'The staging record is missing',
    reasonCode: 'staging_missing',
    errorClass: 'ErrValidatorBackend',
    evidence: [diffEvidence(input.diff.diffSha, { startLine: 1, startColumn: 1, endLine: 1, endColumn: 1 })],
  };
}

function rowRule<Config>(
  definition: Pick<
    Parameters<typeof defineRule<Config>>[0],
    'name' | 'logicRevision' | 'defaultLevel' | 'why' | 'config' | 'reads' | 'apply' | 'parser'
  >,
  examples: SqlExamples,
): SqlRule {
  const rule = defineRule<Config>({
    pack: 'sql-postgres',
    docs: pageOf('sql-postgres', definition.name),
    sourceTools: ['SQLDryRun', 'SQLCAS'],
    ...definition,
  });
  return { ...packRule(rule, examples), examples };
}

const update = 'UPDATE orders SET paid = true WHERE id < 5000';

export const affectedRows = rowRule<Limits>(
  {
    name: 'sql_affected_rows',
    logicRevision: 4,
    defaultLevel: 'confirm',
    why: 'The dry run changed many rows, or more than the condition names and the agent did not declare how many.',
    config: z.strictObject({
      maxRows: z.int().min(0).default(1000).describe('Maximum number of rows.'),
      maxUnclaimedRows: z
        .int()
        .min(0)
        .default(1)
        .describe(
          'How many rows an UPDATE, DELETE or MERGE may change without naming them by a key and without the claim `affected_rows`.',
        ),
    }),
    parser: SQL_PARSER,
    reads: ['facts', 'metadata', 'staging'],
    apply: tooManyUnclaimedRows,
  },
  { bad: update, good: 'UPDATE orders SET paid = true WHERE id = 4999', rows: { bad: 1001, good: 1 } },
);

export const affectedRowsLimit = rowRule<Limit>(
  {
    name: 'sql_affected_rows_limit',
    logicRevision: 3,
    defaultLevel: 'forbid',
    why: 'A change of this size needs a planned migration, not a review.',
    config: z.strictObject({ maxRows: z.int().min(0).default(100_000).describe('Maximum number of rows.') }),
    reads: ['staging'],
    apply: tooManyRows,
  },
  { bad: update, good: update, rows: { bad: 100_001, good: 100_000 } },
);
