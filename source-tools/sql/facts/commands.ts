import type { Tree } from './parser';
import { child, has, text, typed } from './tree';
import { wordList } from '../../../policy/text/word-list';

/** Commands that differ from the name of their node type. */
const WORDS: Readonly<Record<string, string>> = {
  TruncateStmt: 'TRUNCATE TABLE',
  CreateStmt: 'CREATE TABLE',
  IndexStmt: 'CREATE INDEX',
  ViewStmt: 'CREATE VIEW',
  RuleStmt: 'CREATE RULE',
  CreateTrigStmt: 'CREATE TRIGGER',
  CreateSeqStmt: 'CREATE SEQUENCE',
  AlterSeqStmt: 'ALTER SEQUENCE',
  CreateEnumStmt: 'CREATE TYPE',
  CreateRangeStmt: 'CREATE TYPE',
  CompositeTypeStmt: 'CREATE TYPE',
  AlterEnumStmt: 'ALTER TYPE',
  DropdbStmt: 'DROP DATABASE',
  CreatedbStmt: 'CREATE DATABASE',
  DropTableSpaceStmt: 'DROP TABLESPACE',
  VariableSetStmt: 'SET',
  VariableShowStmt: 'SHOW',
  ClosePortalStmt: 'CLOSE CURSOR',
  LockStmt: 'LOCK TABLE',
  AlterRoleSetStmt: 'ALTER ROLE',
  AlterDatabaseSetStmt: 'ALTER DATABASE',
  RefreshMatViewStmt: 'REFRESH MATERIALIZED VIEW',
  CreateFdwStmt: 'CREATE FOREIGN DATA WRAPPER',
  CreateEventTrigStmt: 'CREATE EVENT TRIGGER',
  AlterEventTrigStmt: 'ALTER EVENT TRIGGER',
  CreatePLangStmt: 'CREATE LANGUAGE',
  SecLabelStmt: 'SECURITY LABEL',
  CheckPointStmt: 'CHECKPOINT',
  ConstraintsSetStmt: 'SET CONSTRAINTS',
};

/** Command of the statement in upper case, similar to the server's command tag. */
export function commandOf(statement: Tree): string {
  const s = typed(statement);
  if (s === null) return 'EMPTY';
  const object = (key: string): string =>
    text(s.node, key).replace('OBJECT_', '').replaceAll('_', ' ').replace('MATVIEW', 'MATERIALIZED VIEW');
  switch (s.type) {
    case 'DropStmt':
      return `DROP ${object('removeType')}`;
    case 'AlterTableStmt':
      return `ALTER ${object('objtype')}`;
    case 'RenameStmt': {
      const renamed = object('renameType');
      // For a constraint the grammar does not set relationType.
      if (renamed === 'TABCONSTRAINT') return 'ALTER TABLE';
      return `ALTER ${renamed === 'COLUMN' || renamed === 'ATTRIBUTE' ? object('relationType') : renamed}`;
    }
    case 'AlterOwnerStmt':
    case 'AlterObjectSchemaStmt':
      return `ALTER ${object('objectType')}`;
    case 'GrantStmt':
      return s.node['is_grant'] === true ? 'GRANT' : 'REVOKE';
    case 'GrantRoleStmt':
      return s.node['is_grant'] === true ? 'GRANT ROLE' : 'REVOKE ROLE';
    case 'CreateTableAsStmt':
      return text(s.node, 'objtype') === 'OBJECT_MATVIEW' ? 'CREATE MATERIALIZED VIEW' : 'CREATE TABLE AS';
    case 'CreateFunctionStmt':
      return s.node['is_procedure'] === true ? 'CREATE PROCEDURE' : 'CREATE FUNCTION';
    case 'TransactionStmt':
      return text(s.node, 'kind').replace('TRANS_STMT_', '').replaceAll('_', ' ');
    case 'VacuumStmt':
      return s.node['is_vacuumcmd'] === true ? 'VACUUM' : 'ANALYZE';
    case 'SelectStmt':
      return has(s.node, 'intoClause') ? 'SELECT INTO' : 'SELECT';
    default:
      return (
        WORDS[s.type] ??
        s.type
          .replace('Stmt', '')
          .replace(/([a-z])([A-Z])/g, '$1 $2')
          .toUpperCase()
      );
  }
}

/** True if the statement itself has a RETURNING clause. */
export function hasReturning(statement: Tree): boolean {
  const s = typed(statement);
  return s !== null && has(s.node, 'returningClause');
}

const READS = new Set(
  wordList(`
  SelectStmt VariableShowStmt ExplainStmt CopyStmt DeclareCursorStmt FetchStmt ClosePortalStmt PrepareStmt
  DeallocateStmt
`),
);

/** True for commands that only read. Statements inside them are not examined here. */
export function isReadCommand(statement: Tree): boolean {
  const s = typed(statement);
  if (s === null || !READS.has(s.type)) return false;
  if (s.type === 'CopyStmt') return s.node['is_from'] !== true && text(s.node, 'filename') === '';
  return s.type !== 'SelectStmt' || !has(child(s.node, 'intoClause'), 'rel');
}
