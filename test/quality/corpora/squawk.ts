import { corpus } from '../../source-tools/sql/rules/support/corpus';
import { fires } from '../../source-tools/sql/rules/support/run-rule';
import { labelOf, verdictOf, type Judged, type Measure } from '../judged';

interface SquawkCase {
  readonly id: string;
  readonly rule: string;
  readonly settings: { readonly assume_in_transaction?: boolean; readonly pg_version?: string };
  readonly sql: string;
  readonly expected: 'pass' | 'violation';
}

const transaction = (s: SquawkCase['settings']) => ({ assumeInTransaction: s.assume_in_transaction ?? false });
const version = (s: SquawkCase['settings']) => (s.pg_version === undefined ? {} : { pgVersion: Number(s.pg_version) });

/** Equivalent rule for each rule of squawk, with its settings converted. Rules that are not listed have no equivalent. */
const EQUIVALENTS: Readonly<Record<string, readonly [string, ((s: SquawkCase['settings']) => object)?]>> = {
  'adding-field-with-default': ['sql_volatile_default', (s) => ({ ...transaction(s), ...version(s) })],
  'adding-foreign-key-constraint': ['sql_constraint_not_valid', transaction],
  'adding-not-nullable-field': ['sql_set_not_null', (s) => ({ ...transaction(s), ...version(s) })],
  'adding-required-field': ['sql_add_column_not_null', transaction],
  'adding-serial-primary-key-field': ['sql_unique_constraint', transaction],
  'ban-alter-domain-with-add-constraint': ['sql_domain_constraint'],
  'ban-char-field': ['sql_no_char'],
  'ban-concurrent-index-creation-in-transaction': ['sql_concurrently_in_transaction', transaction],
  'ban-create-domain-with-constraint': ['sql_domain_constraint'],
  'ban-drop-column': ['sql_alter_destructive'],
  'ban-drop-constraint': ['sql_alter_destructive'],
  'ban-drop-database': ['sql_drop_database'],
  'ban-drop-not-null': ['sql_drop_not_null'],
  'ban-drop-table': ['sql_drop'],
  'ban-truncate-cascade': ['sql_cascade'],
  'ban-uncommitted-transaction': ['sql_uncommitted_transaction'],
  'changing-column-type': ['sql_alter_destructive'],
  'constraint-missing-not-valid': ['sql_constraint_not_valid', transaction],
  'disallowed-unique-constraint': ['sql_unique_constraint', transaction],
  'identifier-too-long': ['sql_identifier_too_long'],
  'prefer-bigint-over-int': ['sql_prefer_bigint'],
  'prefer-bigint-over-smallint': ['sql_prefer_bigint_over_smallint'],
  'prefer-identity': ['sql_prefer_identity'],
  'prefer-repack': ['sql_vacuum_full'],
  'prefer-robust-stmts': ['sql_robust_statements', transaction],
  'prefer-text-field': ['sql_prefer_text'],
  'prefer-timestamp-tz': ['sql_prefer_timestamptz'],
  'renaming-column': ['sql_alter_destructive'],
  'renaming-table': ['sql_alter_destructive'],
  'require-concurrent-index-creation': ['sql_not_concurrent', transaction],
  'require-concurrent-index-deletion': ['sql_not_concurrent', transaction],
  'require-concurrent-partition-detach': ['sql_not_concurrent', transaction],
  'require-concurrent-reindex': ['sql_not_concurrent', transaction],
  'require-enum-value-ordering': ['sql_enum_value_order'],
  'require-lock-timeout': ['sql_timeouts_required', () => ({ statementTimeout: false })],
  'require-statement-timeout': ['sql_timeouts_required', () => ({ lockTimeout: false })],
  'require-table-schema': ['sql_require_schema'],
  'require-timeout-settings': ['sql_timeouts_required'],
};

const FILE = 'squawk-lint-cases.json';

export const squawk: Measure = {
  name: 'squawk',
  file: FILE,
  own: false,
  judge: async (folder) => {
    const cases = corpus<readonly SquawkCase[]>(FILE, folder);
    if (cases === null) return null;
    const judged: Judged[] = [];
    for (const { id, rule, settings, sql, expected } of cases) {
      const equivalent = EQUIVALENTS[rule];
      if (equivalent === undefined) continue;
      const [name, configOf] = equivalent;
      const held = await fires(name, sql, { config: configOf?.(settings) ?? {} });
      judged.push({ id, expected: labelOf(expected), actual: verdictOf(held), what: name });
    }
    return { judged, notCompared: cases.length - judged.length };
  },
};
