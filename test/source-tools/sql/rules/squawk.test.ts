import { extractSqlFacts } from '../../../../source-tools/sql/facts/extract-sql-facts';
import { withCorpus } from './support/corpus';
import { bytesOf } from './support/run-rule';

withCorpus<readonly { readonly id: string; readonly sql: string }[]>('squawk-lint-cases.json', (all) => {
  it('parses every text that squawk lints', async () => {
    const refused: string[] = [];
    for (const c of all) if (!(await extractSqlFacts(bytesOf(c.sql))).ok) refused.push(c.id);
    expect(refused).toEqual([]);
  });
});
