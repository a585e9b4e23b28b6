import { extractSqlFacts } from '../../../../source-tools/sql/facts/extract-sql-facts';
import { withCorpus } from './support/corpus';
import { bytesOf } from '../../../policy/rules/support/run-pack-rule';

interface Case {
  readonly id: string;
  readonly sql: string;
}

async function refused(cases: readonly Case[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const { id, sql } of cases) if (!(await extractSqlFacts(bytesOf(sql))).ok) ids.push(id);
  return ids;
}

withCorpus<{ readonly risky: readonly Case[]; readonly lookalikeSafe: readonly Case[] }>(
  'pg-regress-sample.json',
  ({ risky, lookalikeSafe }) => {
    it('parses every statement of PostgreSQL’s regression tests that the server’s grammar accepts', async () => {
      expect(await refused([...risky, ...lookalikeSafe])).toEqual([]);
    });
  },
);

withCorpus<readonly Case[]>('squawk-lint-cases.json', (all) => {
  it('parses every text that squawk lints', async () => {
    expect(await refused(all)).toEqual([]);
  });
});
