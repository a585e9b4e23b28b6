import type { Evaluation } from '../../../../../policy/bundle/evaluate';
import type { Metadata } from '../../../../../policy/contracts/diff';
import { extractSqlFacts } from '../../../../../source-tools/sql/facts/extract-sql-facts';
import { starterEvaluator } from '../../../../support/compiled-plan';
import { bytesOf } from './run-rule';

/** What the starter bundle for SQL decides about a text without the record of a dry run. */
export function sqlStarterEvaluator(): (sql: string, metadata?: Metadata) => Promise<Evaluation> {
  const evaluate = starterEvaluator('SQLDryRun');
  return async (sql, metadata = {}) => {
    const raw = bytesOf(sql);
    return evaluate({ raw, metadata, facts: await extractSqlFacts(raw), staging: null, at: null });
  };
}

/** Names of the rules that fired. */
export function firedRules({ findings }: Evaluation): readonly string[] {
  return findings.filter(({ status }) => status !== 'ALLOW').map(({ validator_id: id }) => id.replace('guardian.', ''));
}
