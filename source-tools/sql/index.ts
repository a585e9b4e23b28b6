import { jsonRenderer } from '../../policy/text/render/json';
import { normalizedJson } from '../../policy/text/normalized-json';
import type { Pack } from '../../policy/rules/pack';
import { defineSourceTool } from '../define';
import { readCasDocument } from './facts/cas-document';
import { casClaims, sqlClaims } from './facts/claims';
import { extractSqlFacts } from './facts/extract-sql-facts';
import { measureCas, measureSql } from './facts/measure';
import { CAS_PARSER, SQL_CAS_FACTS, type SqlCasFacts } from './facts/sql-cas-facts';
import { SQL_FACTS, type SqlFacts } from './facts/sql-facts';
import { normalizedSql } from './facts/normalized-sql';
import { SQL_PARSER } from './facts/sql-parser';
import { touchedByCas, touchedBySql } from './facts/touched';
import { sqlRenderer } from './render';
import { sqlPostgresRules } from './rules';
import { casParseFailure } from './rules/cas-parse-failure';
import { sqlPostgresStyleRules } from './rules/style';
import { SqlSettings } from './staging-settings';
import { casTitle, sqlTitle } from './title';

/** `SQLDryRun`: SQL text for PostgreSQL. */
export const sqlDryRun = defineSourceTool<SqlFacts>({
  sourceTool: 'SQLDryRun',
  mode: 'enforced',
  parser: SQL_PARSER,
  facts: ({ raw }) => extractSqlFacts(raw),
  normalized: ({ raw }) => normalizedSql(raw),
  measure: measureSql,
  touched: touchedBySql,
  claims: sqlClaims,
  title: sqlTitle,
  render: sqlRenderer,
  factsMembers: SQL_FACTS,
  stagingSettings: SqlSettings,
  staging: async () => (await import('./staging/index.js')).sqlDryRunEffects,
});

/** `SQLCAS`: rows to compare and set, as a JSON document. */
export const sqlCas = defineSourceTool<SqlCasFacts>({
  sourceTool: 'SQLCAS',
  mode: 'enforced',
  parser: CAS_PARSER,
  facts: ({ raw }) => {
    const read = readCasDocument(raw);
    return read.ok ? read.facts : read;
  },
  normalized: ({ raw }) => normalizedJson(raw),
  measure: measureCas,
  touched: touchedByCas,
  claims: casClaims,
  title: casTitle,
  render: jsonRenderer,
  factsMembers: SQL_CAS_FACTS,
  stagingSettings: SqlSettings,
  staging: async () => (await import('./staging/index.js')).sqlCasEffects,
});

export const sqlPacks: readonly Pack[] = [
  {
    name: 'sql-postgres',
    about:
      'SQL text for PostgreSQL, parsed with its grammar at every nesting level: statements, common table expressions, function bodies and DO blocks.',
    rules: [...sqlPostgresRules, casParseFailure],
  },
  {
    name: 'sql-postgres-style',
    about: 'Advice on types, naming and style in SQL. Off until a policy bundle enables the pack.',
    rules: sqlPostgresStyleRules,
  },
];
