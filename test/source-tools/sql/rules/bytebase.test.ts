import { sqlPostgresPack } from '../../../../source-tools/sql/rules';
import { sqlPostgresStylePack } from '../../../../source-tools/sql/rules/style';
import { withCorpus } from './support/corpus';
import { extractSqlFacts } from '../../../../source-tools/sql/facts/extract-sql-facts';
import type { SqlFacts } from '../../../../source-tools/sql/facts/sql-facts';
import { bytesOf, factsOf, fires } from './support/run-rule';

interface AdvisorCase {
  readonly id: string;
  readonly rule: string;
  readonly sql: string;
  readonly expected: 'pass' | 'violation';
}

interface ParserCases {
  readonly test_statement_type: readonly { readonly statement: string; readonly want: readonly string[] }[];
  readonly test_split: readonly {
    readonly description: string;
    readonly input: string;
    readonly result: readonly { readonly text: string; readonly empty: boolean }[];
  }[];
  readonly read_only: readonly { readonly id: string; readonly sql: string; readonly readOnly: boolean }[];
}

const pack = [...sqlPostgresPack, ...sqlPostgresStylePack];

/** Equivalent rules for each rule of Bytebase. Rules that need a catalog or a naming template have no equivalent. */
const EQUIVALENTS: Readonly<
  Record<string, { readonly rules: readonly string[]; readonly config?: object; readonly exact: boolean }>
> = {
  STATEMENT_DISALLOW_TRUNCATE: { rules: ['sql_truncate'], exact: true },
  STATEMENT_WHERE_REQUIRE_UPDATE_DELETE: {
    rules: ['sql_update_without_where', 'sql_delete_without_where'],
    exact: true,
  },
  STATEMENT_WHERE_REQUIRE_SELECT: { rules: ['sql_select_without_where'], exact: true },
  STATEMENT_WHERE_NO_LEADING_WILDCARD_LIKE: { rules: ['sql_leading_wildcard'], exact: true },
  STATEMENT_DISALLOW_COMMIT: { rules: ['sql_transaction_control'], exact: true },
  STATEMENT_DISALLOW_RM_TBL_CASCADE: { rules: ['sql_cascade'], exact: true },
  STATEMENT_DISALLOW_ON_DEL_CASCADE: { rules: ['sql_on_delete_cascade'], exact: true },
  STATEMENT_ADD_CHECK_NOT_VALID: { rules: ['sql_constraint_not_valid'], exact: false },
  // Bytebase assumes that statements run one by one, so a table created before counts as an existing one.
  STATEMENT_ADD_FOREIGN_KEY_NOT_VALID: {
    rules: ['sql_constraint_not_valid'],
    config: { assumeInTransaction: false },
    exact: false,
  },
  STATEMENT_CREATE_SPECIFY_SCHEMA: { rules: ['sql_require_schema'], exact: false },
  STATEMENT_INSERT_MUST_SPECIFY_COLUMN: { rules: ['sql_insert_without_columns'], exact: false },
  STATEMENT_INSERT_DISALLOW_ORDER_BY_RAND: { rules: ['sql_insert_order_by_random'], exact: false },
  STATEMENT_INSERT_ROW_LIMIT: { rules: ['sql_insert_row_limit'], config: { maxRows: 5 }, exact: false },
  STATEMENT_SELECT_NO_SELECT_ALL: { rules: ['sql_select_star'], exact: false },
  COLUMN_DISALLOW_CHANGE_TYPE: { rules: ['sql_alter_destructive'], exact: false },
  INDEX_CREATE_CONCURRENTLY: { rules: ['sql_not_concurrent'], exact: false },
};

withCorpus<readonly AdvisorCase[]>('bytebase-advisor-pg.json', (all) => {
  const answers = async (c: AdvisorCase): Promise<boolean> => {
    const equivalent = EQUIVALENTS[c.rule];
    if (equivalent === undefined) throw new Error(`no equivalent rule: ${c.rule}`);
    const found = await Promise.all(
      equivalent.rules.map((name) =>
        fires(name, c.sql, equivalent.config === undefined ? {} : { config: equivalent.config }, pack),
      ),
    );
    return found.includes(true);
  };
  const comparable = all.filter((c) => EQUIVALENTS[c.rule] !== undefined);

  it('agrees with Bytebase on every TRUNCATE, WHERE, COMMIT and CASCADE case', async () => {
    const exact = comparable.filter((c) => EQUIVALENTS[c.rule]?.exact === true);
    const disagreed: string[] = [];
    for (const c of exact) if ((await answers(c)) !== (c.expected === 'violation')) disagreed.push(c.id);
    process.stdout.write(
      `bytebase: ${exact.length - disagreed.length} of ${exact.length} TRUNCATE, WHERE, COMMIT and CASCADE cases agree\n`,
    );
    expect(disagreed).toEqual([]);
  });

  it('agrees with Bytebase on at least 95 % of the other comparable cases', async () => {
    const others = comparable.filter((c) => EQUIVALENTS[c.rule]?.exact === false);
    const disagreed: string[] = [];
    for (const c of others) if ((await answers(c)) !== (c.expected === 'violation')) disagreed.push(c.id);
    process.stdout.write(
      `bytebase: ${others.length - disagreed.length} of ${others.length} other comparable cases agree ${disagreed.join(', ')}\n`,
    );
    expect(1 - disagreed.length / others.length).toBeGreaterThanOrEqual(0.95);
  });
});

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
