import { affectedRows, affectedRowsLimit } from './affected-rows';
import { alterDestructive } from './alter';
import { addColumnNotNull, volatileDefault } from './columns';
import { concurrentlyInTransaction, notConcurrent } from './concurrently';
import { constraintNotValid, onDeleteCascade, setNotNull, uniqueConstraint } from './constraints';
import type { SqlExamples, SqlRule } from './define-sql-rule';
import { cascade, drop, dropDatabase, truncate } from './drop';
import { dynamicSql } from './dynamic-sql';
import { dangerousFunction } from './functions';
import { hiddenWrite } from './hidden-write';
import { identifierTooLong } from './identifiers';
import { insertRowLimit, insertWithoutColumns } from './inserts';
import { lexerSettings } from './lexer-settings';
import { lockTable, timeoutsRequired, vacuumFull } from './locks';
import { parseFailure } from './parse-failure';
import { privilegeChange, privilegeEscalation } from './privileges';
import { rollbackAvailable } from './rollback-available';
import { serverSideExecution } from './server-side-execution';
import { statementNotAllowed } from './statement-not-allowed';
import { multiStatement, statementLimit } from './statements';
import { tableScope } from './table-scope';
import { transactionControl, uncommittedTransaction } from './transaction-control';
import { unkeyedWrite } from './unkeyed-write';
import { deleteWithoutWhere, tautologicalWhere, updateWithoutWhere } from './where';

/** In the order of their findings: rules that gate the change first, then migration safety. */
export const sqlPostgresRules: readonly SqlRule[] = [
  parseFailure,
  statementNotAllowed,
  multiStatement,
  transactionControl,
  deleteWithoutWhere,
  updateWithoutWhere,
  tautologicalWhere,
  unkeyedWrite,
  drop,
  dropDatabase,
  truncate,
  cascade,
  alterDestructive,
  serverSideExecution,
  dangerousFunction,
  dynamicSql,
  privilegeChange,
  privilegeEscalation,
  lexerSettings,
  hiddenWrite,
  tableScope,
  affectedRows,
  affectedRowsLimit,
  rollbackAvailable,
  notConcurrent,
  concurrentlyInTransaction,
  constraintNotValid,
  uniqueConstraint,
  addColumnNotNull,
  volatileDefault,
  setNotNull,
  timeoutsRequired,
  vacuumFull,
  lockTable,
  onDeleteCascade,
  uncommittedTransaction,
  identifierTooLong,
  insertWithoutColumns,
  insertRowLimit,
  statementLimit,
];

/** A text that fires and one that passes for each rule, by rule name. */
export const sqlExamples: Readonly<Record<string, SqlExamples>> = Object.fromEntries(
  sqlPostgresRules.map((rule) => [rule.definition.implementation, rule.examples]),
);
