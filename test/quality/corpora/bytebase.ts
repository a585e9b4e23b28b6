import { corpus } from '../../source-tools/sql/rules/support/corpus';
import { fires } from '../../source-tools/sql/rules/support/run-rule';
import { labelOf, verdictOf, type Judged, type Measure } from '../judged';

interface AdvisorCase {
  readonly id: string;
  readonly rule: string;
  readonly sql: string;
  readonly expected: 'pass' | 'violation';
}

/** Equivalent rules for each rule of Bytebase. Rules that need a catalog or a naming template have no equivalent. */
const EQUIVALENTS: Readonly<Record<string, { readonly rules: readonly string[]; readonly config?: object }>> = {
  STATEMENT_DISALLOW_TRUNCATE: { rules: ['sql_truncate'] },
  STATEMENT_WHERE_REQUIRE_UPDATE_DELETE: {
    rules: ['sql_update_without_where', 'sql_delete_without_where'],
  },
  STATEMENT_WHERE_REQUIRE_SELECT: { rules: ['sql_select_without_where'] },
  STATEMENT_WHERE_NO_LEADING_WILDCARD_LIKE: { rules: ['sql_leading_wildcard'] },
  STATEMENT_DISALLOW_COMMIT: { rules: ['sql_transaction_control'] },
  STATEMENT_DISALLOW_RM_TBL_CASCADE: { rules: ['sql_cascade'] },
  STATEMENT_DISALLOW_ON_DEL_CASCADE: { rules: ['sql_on_delete_cascade'] },
  STATEMENT_ADD_CHECK_NOT_VALID: { rules: ['sql_constraint_not_valid'] },
  // Bytebase assumes that statements run one by one, so a table created before counts as an existing one.
  STATEMENT_ADD_FOREIGN_KEY_NOT_VALID: {
    rules: ['sql_constraint_not_valid'],
    config: { assumeInTransaction: false },
  },
  STATEMENT_CREATE_SPECIFY_SCHEMA: { rules: ['sql_require_schema'] },
  STATEMENT_INSERT_MUST_SPECIFY_COLUMN: { rules: ['sql_insert_without_columns'] },
  STATEMENT_INSERT_DISALLOW_ORDER_BY_RAND: { rules: ['sql_insert_order_by_random'] },
  STATEMENT_INSERT_ROW_LIMIT: { rules: ['sql_insert_row_limit'], config: { maxRows: 5 } },
  STATEMENT_SELECT_NO_SELECT_ALL: { rules: ['sql_select_star'] },
  COLUMN_DISALLOW_CHANGE_TYPE: { rules: ['sql_alter_destructive'] },
  INDEX_CREATE_CONCURRENTLY: { rules: ['sql_not_concurrent'] },
};

const FILE = 'bytebase-advisor-pg.json';

export const bytebase: Measure = {
  name: 'bytebase',
  file: FILE,
  own: false,
  judge: async (folder) => {
    const cases = corpus<readonly AdvisorCase[]>(FILE, folder);
    if (cases === null) return null;
    const judged: Judged[] = [];
    for (const { id, rule, sql, expected } of cases) {
      const equivalent = EQUIVALENTS[rule];
      if (equivalent === undefined) continue;
      const { rules, config = {} } = equivalent;
      const fired: string[] = [];
      for (const name of rules) if (await fires(name, sql, { config })) fired.push(name);
      judged.push({ id, expected: labelOf(expected), actual: verdictOf(fired.length > 0), what: rules.join(', ') });
    }
    return { judged, notCompared: cases.length - judged.length };
  },
};
