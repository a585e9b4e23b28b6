import { z } from 'zod';
import { defineRule } from '../../../policy/rules/define';
import { diffEvidence } from '../../../policy/contracts/facts';
import { MISSING_PARSE, packRule, pageOf } from '../../../policy/rules/rule-maker';
import type { SqlRule } from './define-sql-rule';
import { SQL_PARSER } from '../facts/sql-parser';

const definition = defineRule({
  name: 'sql_parse_failure',
  pack: 'sql-postgres',
  logicRevision: 3,
  defaultLevel: 'forbid',
  why: 'Text that PostgreSQL’s grammar rejects (also NUL bytes, psql commands, invalid UTF-8 or empty text) cannot be checked by any other rule.',
  docs: pageOf('sql-postgres', 'sql_parse_failure'),
  config: z.strictObject({}),
  reads: ['bytes', 'facts'],
  sourceTools: ['SQLDryRun'],
  parser: SQL_PARSER,
  apply: ({ facts, diff }) => {
    if (facts.ok) return { fires: false };
    const { code, message, span } = facts;
    const place = span ?? { startLine: 1, startColumn: 1, endLine: 1, endColumn: 1 };
    return {
      fires: true,
      reason: span === null ? message : `${message} at line ${place.startLine}, column ${place.startColumn}`,
      reasonCode: code,
      evidence: [diffEvidence(diff.diffSha, place)],
      recommendedActions: ['Submit plain PostgreSQL statements in UTF-8, without psql commands.'],
    };
  },
});

const examples = { bad: 'DELETE FROM orders WHERE id = 1; \\! rm -rf /', good: 'DELETE FROM orders WHERE id = 1' };

/** Fires for every text that is refused by the facts extractor. */
export const parseFailure: SqlRule = { ...packRule(definition, examples), examples, missing: MISSING_PARSE };
