import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule } from './define-sql-rule';
import type { AlterFact } from '../facts/sql-facts';
import { shownName } from '../../../policy/text/table-name';
import { wordList } from '../../../policy/text/word-list';

/** Actions that lose data, break readers or writers, rewrite the table under an exclusive lock, or change its owner. */
const DESTRUCTIVE = new Set(
  wordList(`
  drop_column alter_column_type set_expression drop_constraint stop_enforcing_constraint set_not_null rename set_schema
  set_logged set_unlogged set_tablespace set_access_method move_all detach_partition no_inherit owner_to reassign_owned
  drop_expression drop_identity set_identity alter_sequence_values
`),
);

function describe(a: AlterFact): string {
  const object = a.object === null ? '' : ` of ${a.objectType.replaceAll('_', ' ')} ${shownName(a.object)}`;
  return `${a.action.toUpperCase().replaceAll('_', ' ')}${a.member === null ? '' : ` ${shown(a.member)}`}${object}`;
}

export const alterDestructive = defineSqlRule({
  name: 'sql_alter_destructive',
  logicRevision: 6,
  defaultLevel: 'confirm',
  why: 'The change can lose data, break readers or writers, rewrite the table under an exclusive lock, or change its owner.',
  examples: {
    bad: 'ALTER TABLE orders ADD COLUMN a int, DROP COLUMN b',
    good: 'ALTER TABLE orders ADD COLUMN "drop column" int',
  },
  find: ({ alters }) => alters.filter((a) => DESTRUCTIVE.has(a.action)).map((a) => ({ at: a, what: describe(a) })),
});
