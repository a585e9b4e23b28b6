import { extractSqlFacts } from '../../../../source-tools/sql/facts/extract-sql-facts';
import { withCorpus } from './support/corpus';
import { bytesOf } from './support/run-rule';

interface RegressCase {
  readonly id: string;
  readonly sql: string;
}

withCorpus<{ readonly risky: readonly RegressCase[]; readonly lookalikeSafe: readonly RegressCase[] }>(
  'pg-regress-sample.json',
  ({ risky, lookalikeSafe }) => {
    it('parses every statement that the server’s grammar accepts', async () => {
      const refused: string[] = [];
      for (const c of [...risky, ...lookalikeSafe]) {
        const facts = await extractSqlFacts(bytesOf(c.sql));
        if (!facts.ok) refused.push(`${c.id}: ${facts.code}`);
      }
      process.stdout.write(`pg-regress: ${refused.length} refused ${refused.join(', ')}\n`);
      expect(refused.length).toBeLessThanOrEqual((risky.length + lookalikeSafe.length) / 100);
    });
  },
);
