import { sqlPostgresPack } from '../../source-tools/sql/rules/support/packs';
import { corpus } from '../../source-tools/sql/rules/support/corpus';
import { inputFor } from '../../source-tools/sql/rules/support/run-rule';
import { verdictOf, type Judged, type Measure } from '../judged';

interface RegressCase {
  readonly id: string;
  readonly sql: string;
  readonly flags: readonly string[];
}

/** For each label of the corpus, the rules of which at least one must fire. Ordinary writes (`insert`, `delete` with a WHERE) are not risks. */
const RISKS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^delete_no_where$/, ['sql_delete_without_where']],
  [/^update_no_where$/, ['sql_update_without_where']],
  [/^drop(:.*)?$/, ['sql_drop', 'sql_drop_database']],
  [/^drop_cascade$/, ['sql_cascade']],
  [/^truncate$/, ['sql_truncate']],
  [/^(drop_column|alter_column_type|drop_constraint|set_not_null|rename|change_owner)$/, ['sql_alter_destructive']],
  [
    /^(grant|revoke|role_ddl|default_privileges|disable_trigger|set_role)$/,
    ['sql_privilege_change', 'sql_privilege_escalation'],
  ],
  [/^(nested_write|select_into)$/, ['sql_hidden_write']],
  [/^fn:/, ['sql_dangerous_function', 'sql_statement_not_allowed']],
  [/^lock_table$/, ['sql_lock_table']],
  [/^vacuum_full$/, ['sql_vacuum_full']],
  [/^(copy_program|copy_file|load|alter_system)$/, ['sql_server_side_execution']],
];

/** EXPLAIN without ANALYZE changes nothing, though the corpus also labels the explained statement. */
const isPlanOnly = (sql: string): boolean => {
  const text = withoutComments(sql);
  return /^explain\b/i.test(text) && !/^explain\s*(\([^)]*\banalyze\b|analyze\b)/i.test(text);
};
const withoutComments = (sql: string): string => sql.replace(/^(\s*--[^\n]*\n|\s*\/\*[^*]*\*\/)*/, '').trim();

/** Findings on look-alikes that are intended, because the rule must fire on these statements. They are not false positives. */
const INTENDED: Readonly<Record<string, { readonly what: string; readonly text: RegExp }>> = {
  sql_transaction_control: {
    what: 'transaction control',
    text: /^(begin|start|commit|end|rollback|abort|savepoint|release|prepare\s+transaction)\b/i,
  },
  sql_dynamic_sql: {
    what: 'EXECUTE of a prepared name, or of text that is not constant',
    text: /\bexecute\b/i,
  },
  sql_alter_destructive: {
    what: 'SET LOGGED, UNLOGGED, SCHEMA, TABLESPACE or EXPRESSION, DROP EXPRESSION, DETACH PARTITION, NO INHERIT, other values of a sequence',
    text: /\b(set\s+(logged|unlogged|schema|tablespace|expression)|drop\s+expression|detach\s+partition|no\s+inherit|alter\s+sequence\b.*\srestart)\b/i,
  },
  sql_privilege_change: {
    what: 'row level security and its policies, publications',
    text: /^(create|alter)\s+(policy|publication)\b|\b(enable|force)\s+row\s+level\s+security\b/i,
  },
  sql_server_side_execution: {
    what: 'event triggers, subscriptions, foreign servers',
    text: /^(create|alter)\s+(event\s+trigger|subscription|server|foreign\s+server)\b/i,
  },
  sql_hidden_write: {
    what: 'MERGE … DELETE, SELECT INTO',
    text: /\bmerge\b[^]*\bdelete\b|\bselect\b[^]*\binto\b/i,
  },
};

/** Allowlists: they ask about everything that is not known to be harmless, so most statements of the suite are not on them. */
const ALLOWLISTS = ['sql_statement_not_allowed', 'sql_unkeyed_write'];

/**
 * Rules that name a danger and gate any change. Migration rules are excluded, because they would fire on every index build of the
 * suite.
 */
const GATE_RULES = sqlPostgresPack
  .slice(
    0,
    sqlPostgresPack.findIndex((d) => d.implementation === 'sql_not_concurrent'),
  )
  .filter((d) => !d.reads.includes('staging') && d.defaultLevel !== 'advise' && !ALLOWLISTS.includes(d.implementation));

async function fired(sql: string, pack = sqlPostgresPack): Promise<readonly string[]> {
  const input = await inputFor(sql);
  return pack
    .filter(
      (d) => !d.reads.includes('staging') && d.evaluate?.({ ...input, config: d.config.parse({}) }).status !== 'ALLOW',
    )
    .map((d) => d.implementation);
}

const FILE = 'pg-regress-sample.json';

export const pgRegress: Measure = {
  name: 'pg-regress',
  file: FILE,
  own: false,
  judge: async (folder) => {
    const sets = corpus<Readonly<Record<'risky' | 'lookalikeSafe', readonly RegressCase[]>>>(FILE, folder);
    if (sets === null) return null;
    const judged: Judged[] = [];
    for (const { id, sql, flags } of sets.risky) {
      const wanted = flags.flatMap((flag) => RISKS.filter(([pattern]) => pattern.test(flag)).map(([, rules]) => rules));
      if (isPlanOnly(sql) || wanted.length === 0) continue;
      const found = await fired(sql);
      const missed = wanted.filter((rules) => !rules.some((name) => found.includes(name)));
      const what = missed.length === 0 ? found.join(', ') : missed.map((rules) => rules.join(' or ')).join(', ');
      judged.push({ id, expected: 'held', actual: verdictOf(missed.length === 0), what });
    }
    for (const { id, sql } of sets.lookalikeSafe) {
      const alarms = (await fired(sql, GATE_RULES)).filter(
        (name) => INTENDED[name]?.text.test(withoutComments(sql)) !== true,
      );
      judged.push({ id, expected: 'passed', actual: verdictOf(alarms.length > 0), what: alarms.join(', ') });
    }
    return { judged, notCompared: sets.risky.length + sets.lookalikeSafe.length - judged.length };
  },
};
