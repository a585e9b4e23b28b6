import { withCorpus } from './support/corpus';
import { extractSqlFacts } from '../../../../source-tools/sql/facts/extract-sql-facts';
import type { SqlFacts } from '../../../../source-tools/sql/facts/sql-facts';
import { bytesOf } from '../../../policy/rules/support/run-pack-rule';
import { factsOf } from './support/run-rule';

interface ParserCases {
  readonly test_statement_type: readonly { readonly statement: string; readonly want: readonly string[] }[];
  readonly test_split: readonly {
    readonly description: string;
    readonly input: string;
    readonly result: readonly { readonly text: string; readonly empty: boolean }[];
  }[];
  readonly read_only: readonly { readonly id: string; readonly sql: string; readonly readOnly: boolean }[];
}

withCorpus<ParserCases>(
  'bytebase-pg-parser.json',
  ({ read_only: readOnly, test_split: split, test_statement_type: types }) => {
    it.each(readOnly.map((c) => [c.id, c] as const))(
      'distinguishes reads from writes like Bytebase: %s',
      async (_id, c) => {
        const { statements } = await factsOf(c.sql);
        expect(statements.every((s) => s.readOnly)).toBe(c.readOnly);
      },
    );

    it.each(split.map((c) => [c.description, c] as const))(
      'splits statements like Bytebase: %s',
      async (_description, c) => {
        const wanted = c.result.filter((r) => !r.empty).length;
        if (wanted === 0) return;
        const facts = await extractSqlFacts(bytesOf(c.input));
        // Text that PostgreSQL rejects is refused here. Bytebase splits as much as possible.
        if (!facts.ok) return expect(facts.code).toBe('syntax_error');
        const { statements } = facts as SqlFacts;
        expect(statements).toHaveLength(wanted);
        for (const [i, s] of statements.entries()) {
          const bytes = new TextEncoder().encode(c.input).subarray(s.start, s.end);
          expect(c.result.filter((r) => !r.empty)[i]?.text).toContain(new TextDecoder().decode(bytes));
        }
      },
    );

    it.each(types.map((c) => [c.statement, c] as const))('gives the commands of: %s', async (_statement, c) => {
      const { statements } = await factsOf(c.statement);
      // Bytebase has separate names for renaming an index or a view.
      const wanted = c.want.map((w) => w.replace('RENAME_', 'ALTER_').replaceAll('_', ' '));
      expect(statements.map((s) => s.command)).toEqual(wanted);
    });
  },
);
