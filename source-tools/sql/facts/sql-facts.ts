import type { ExtractedFacts, Span } from '../../../policy/contracts/facts';
import type { TableName } from '../../../policy/text/table-name';
import type { FactsMembers } from '../../../policy/contracts/source-tool';

/**
 * Facts of PostgreSQL text: flat lists, each in the order of the text.
 *
 * Q1 Every list covers all nesting levels: CTEs, EXPLAIN, PREPARE, rules, views, DO and function bodies, and SQL in constant
 *    strings that are executed. `path` gives the position.
 * Q2 Names are normalized like in PostgreSQL: unquoted names lowercased, `U&""` decoded, truncated to 63 bytes.
 * Q3 SQL that could not be read is recorded in `dynamicSql`. It is never dropped silently.
 */
export interface SqlFacts extends ExtractedFacts {
  readonly kind: 'sql';
  readonly statements: readonly SqlStatement[];
  readonly dml: readonly DmlFact[];
  readonly relations: readonly RelationFact[];
  readonly drops: readonly DropFact[];
  readonly truncates: readonly TruncateFact[];
  readonly cascades: readonly CascadeFact[];
  readonly alters: readonly AlterFact[];
  readonly tables: readonly TableFact[];
  readonly columns: readonly ColumnFact[];
  readonly constraints: readonly ConstraintFact[];
  readonly indexes: readonly IndexFact[];
  readonly transactionControl: readonly TransactionFact[];
  readonly settings: readonly SettingFact[];
  readonly functionCalls: readonly FunctionCallFact[];
  readonly dynamicSql: readonly DynamicSqlFact[];
  readonly serverExecution: readonly ServerExecutionFact[];
  readonly privileges: readonly PrivilegeFact[];
  readonly hiddenWrites: readonly HiddenWriteFact[];
  readonly locks: readonly LockFact[];
  readonly maintenance: readonly MaintenanceFact[];
  readonly longIdentifiers: readonly LongIdentifierFact[];
  readonly creations: readonly CreationFact[];
  readonly selects: readonly SelectFact[];
  readonly wildcards: readonly Occurrence[];
  readonly comments: readonly CommentFact[];
  readonly unmodelled: readonly UnmodelledFact[];
}

/** The names of its members, which conditions may read. */
export const SQL_FACTS: FactsMembers<SqlFacts> = {
  statements: true,
  dml: true,
  relations: true,
  drops: true,
  truncates: true,
  cascades: true,
  alters: true,
  tables: true,
  columns: true,
  constraints: true,
  indexes: true,
  transactionControl: true,
  settings: true,
  functionCalls: true,
  dynamicSql: true,
  serverExecution: true,
  privileges: true,
  hiddenWrites: true,
  locks: true,
  maintenance: true,
  longIdentifiers: true,
  creations: true,
  selects: true,
  wildcards: true,
  comments: true,
  unmodelled: true,
};

/** One top-level statement. `start` and `end` are UTF-8 byte offsets that exclude surrounding whitespace, comments and the semicolon. */
export interface SqlStatement {
  readonly index: number;
  readonly start: number;
  readonly end: number;
  readonly span: Span;
  /** Command in upper case, for example `UPDATE`, `CREATE TABLE`, `EXPLAIN`. */
  readonly command: string;
  /** SHA-256 of the bytes `start` to `end`. */
  readonly sha: string;
  readonly hasReturning: boolean;
  /** True if no part of it, at any depth, is syntax that changes data, schema, roles or settings. Called functions are not considered. */
  readonly readOnly: boolean;
}

/** Position of a fact. `statement` counts from 0; `path` is for display and counts from 1. */
export interface Occurrence {
  readonly statement: number;
  readonly span: Span;
  readonly path: string;
  /** Enclosing constructs, outermost first; empty for a top-level statement. */
  readonly via: readonly Container[];
}

export type Container =
  | 'cte'
  | 'explain'
  | 'explain_analyze'
  | 'prepare'
  | 'rule'
  | 'view'
  | 'copy'
  | 'create_table_as'
  | 'cursor'
  | 'schema_element'
  | 'do_body'
  | 'function_body'
  | 'dynamic';

export type SqlName = TableName;

/**
 * `absent`: no WHERE. `always_true`: a constant, `x = x`, or an OR with such an operand. `self_subquery`: `id IN (SELECT id FROM
 * same_table)`. `current_of`: one row of a cursor. `present`: anything else.
 */
export type WhereClass = 'absent' | 'always_true' | 'self_subquery' | 'current_of' | 'present';

export interface DmlFact extends Occurrence {
  readonly kind: 'insert' | 'update' | 'delete' | 'merge';
  readonly table: SqlName;
  /** For MERGE this classifies the ON condition; for INSERT it is always `absent`. */
  readonly where: WhereClass;
  /** Why the condition is always true, as text for a finding; else empty. */
  readonly whereReason: string;
  /** UPDATE and DELETE: number of key values that the condition names, `id IN (7, 8)` two; null if it names no number. */
  readonly keyValues: number | null;
  /** UPDATE and DELETE: the condition compares a column of the table with a value or with a column of another table. */
  readonly restricted: boolean;
  /** INSERT, also of MERGE: true if it has an explicit column list, or only inserts defaults. */
  readonly hasColumnList: boolean;
  /** INSERT … VALUES: number of rows; null for other sources. */
  readonly valueRows: number | null;
  readonly onConflictUpdate: boolean;
  /** True for INSERT … SELECT … ORDER BY random(). */
  readonly orderByRandom: boolean;
  /** MERGE: its actions (`delete`, `update`, `insert`), and `not_matched_by_source` if a clause has it. */
  readonly mergeActions: readonly string[];
}

/** A table, view or sequence that the text references. CTEs are not relations. `name` is `*` for all of a schema. */
export interface RelationFact extends Occurrence {
  readonly relation: SqlName;
  readonly access: 'read' | 'write' | 'ddl';
}

export interface DropFact extends Occurrence {
  /** `table`, `view`, `index`, `schema`, `database`, `owned`, `role`, … */
  readonly objectType: string;
  readonly objects: readonly SqlName[];
  readonly cascade: boolean;
  readonly concurrently: boolean;
  readonly ifExists: boolean;
}

export interface TruncateFact extends Occurrence {
  readonly tables: readonly SqlName[];
  readonly cascade: boolean;
}

/** CASCADE in a DROP, TRUNCATE, ALTER … DROP or CREATE EXTENSION. */
export interface CascadeFact extends Occurrence {
  readonly what: 'drop' | 'truncate' | 'alter' | 'create' | 'revoke';
}

export interface AlterFact extends Occurrence {
  /** snake_case: `drop_column`, `alter_column_type`, `drop_constraint`, `set_not_null`, `rename`, `owner_to`, … */
  readonly action: string;
  readonly objectType: string;
  readonly object: SqlName | null;
  /** Name of the column, constraint or other part, or null. */
  readonly member: string | null;
  readonly ifExists: boolean;
  readonly concurrently: boolean;
}

export interface TableFact extends Occurrence {
  readonly table: SqlName;
  readonly temporary: boolean;
  readonly unlogged: boolean;
  readonly ifNotExists: boolean;
  readonly hasPrimaryKey: boolean;
  readonly as: boolean;
  readonly partitioned: boolean;
  /** True for ON COMMIT DROP. */
  readonly droppedOnCommit: boolean;
  /** True for PARTITION OF, INHERITS, LIKE and OF: the table may inherit its keys. */
  readonly derived: boolean;
}

export interface ColumnFact extends Occurrence {
  readonly table: SqlName | null;
  readonly column: string;
  readonly origin: 'create_table' | 'add_column' | 'alter_type';
  /** Type name of the grammar without pg_catalog: `int4`, `varchar`, `bpchar`, `serial`, … */
  readonly type: string;
  /** True if the type has a length or a precision: `varchar(10)`. */
  readonly sized: boolean;
  readonly notNull: boolean;
  /** `volatile` also if the function is not known to be stable: a volatile default makes the server rewrite the table. */
  readonly defaultKind: 'none' | 'constant' | 'stable' | 'volatile';
  readonly generatedStored: boolean;
  readonly identity: boolean;
  readonly ifNotExists: boolean;
}

export interface ConstraintFact extends Occurrence {
  readonly table: SqlName | null;
  readonly type: 'primary_key' | 'unique' | 'foreign_key' | 'check' | 'not_null' | 'exclusion';
  readonly name: string | null;
  readonly origin: 'create_table' | 'add_column' | 'add_constraint' | 'domain_create' | 'domain_alter';
  readonly notValid: boolean;
  readonly usingIndex: boolean;
  readonly onDeleteCascade: boolean;
  readonly onUpdateCascade: boolean;
  /** The column of NOT NULL column and of CHECK (column IS NOT NULL), else null. */
  readonly notNullColumn: string | null;
}

export interface IndexFact extends Occurrence {
  readonly operation: 'create' | 'drop' | 'reindex';
  readonly concurrently: boolean;
  readonly unique: boolean;
  readonly name: string | null;
  readonly table: SqlName | null;
  readonly ifExists: boolean;
  /** REINDEX: `index`, `table`, `schema`, `system` or `database`; else null. */
  readonly scope: string | null;
}

export interface TransactionFact extends Occurrence {
  /** `begin`, `start`, `commit`, `rollback`, `savepoint`, `release`, `rollback_to`, `prepare`, `commit_prepared`, `rollback_prepared`. */
  readonly kind: string;
  readonly chain: boolean;
}

export interface SettingFact extends Occurrence {
  /** Lowercase. `*` for RESET ALL, for DISCARD, and if the name is not constant. */
  readonly name: string;
  readonly change: 'set' | 'default' | 'reset';
  readonly scope: 'session' | 'local' | 'function' | 'role' | 'database' | 'system';
  /** The value if it is constant, else null. Never shown in a finding, as it may be a secret. */
  readonly value: string | null;
}

export interface FunctionCallFact extends Occurrence {
  readonly function: SqlName;
  readonly argCount: number;
}

export interface DynamicSqlFact extends Occurrence {
  readonly form: 'plpgsql_execute' | 'execute_prepared' | 'sql_text_function' | 'unread_body' | 'unread_expression';
  /** True if the SQL was constant and was parsed; then the other lists include its facts. */
  readonly constant: boolean;
  /** Language of an unread body, or the name of the function or prepared statement. */
  readonly subject: string;
}

export interface ServerExecutionFact extends Occurrence {
  readonly what:
    | 'copy_program'
    | 'copy_file'
    | 'load'
    | 'extension'
    | 'language'
    | 'alter_system'
    | 'subscription'
    | 'foreign_server'
    | 'foreign_table'
    | 'import_foreign_schema'
    | 'user_mapping'
    | 'foreign_data_wrapper'
    | 'event_trigger'
    | 'tablespace';
  /** Name of the affected object (extension, language, setting, …), or empty. */
  readonly subject: string;
}

export interface PrivilegeFact extends Occurrence {
  readonly what:
    | 'grant'
    | 'grant_public'
    | 'grant_option'
    | 'revoke'
    | 'role_ddl'
    | 'role_escalation'
    | 'default_privileges'
    | 'security_definer'
    | 'security_definer_no_search_path'
    | 'disable_rls'
    | 'disable_trigger'
    | 'replication_role'
    | 'catalog_write'
    | 'row_policy'
    | 'view_security'
    | 'security_label'
    | 'leakproof'
    | 'grant_parameter'
    | 'publication'
    | 'set_role';
  readonly subject: string;
}

export interface HiddenWriteFact extends Occurrence {
  readonly what:
    | 'select_into'
    | 'rule_write'
    | 'row_lock'
    | 'cte_write'
    | 'explain_analyze_write'
    | 'copy_write'
    | 'create_table_as_write'
    | 'merge_delete'
    | 'merge_not_matched_by_source';
}

export interface LockFact extends Occurrence {
  readonly tables: readonly SqlName[];
  readonly mode: string;
}

export interface MaintenanceFact extends Occurrence {
  readonly what:
    | 'vacuum_full'
    | 'vacuum'
    | 'cluster'
    | 'refresh_materialized_view'
    | 'refresh_materialized_view_concurrently'
    | 'analyze'
    | 'checkpoint';
}

export interface LongIdentifierFact extends Occurrence {
  readonly bytes: number;
}

/** An object made by CREATE, for rules on naming, IF NOT EXISTS and schemas. `guarded`: re-running it does not fail. */
export interface CreationFact extends Occurrence {
  readonly objectType: string;
  readonly name: SqlName;
  readonly temporary: boolean;
  readonly guarded: boolean;
}

/** A SELECT with a FROM clause. */
export interface SelectFact extends Occurrence {
  readonly hasWhere: boolean;
  /** True if it selects `*` or `t.*`. */
  readonly star: boolean;
  /** FOR UPDATE, FOR SHARE and similar clauses. */
  readonly locksRows: boolean;
}

/** COMMENT ON TABLE or COLUMN. */
export interface CommentFact extends Occurrence {
  readonly table: SqlName;
  readonly column: string | null;
  /** False if it removes the comment. */
  readonly hasText: boolean;
}

/** A part of a SELECT, INSERT, UPDATE, DELETE or MERGE whose effects are not known, one for each reason and statement. */
export interface UnmodelledFact extends Occurrence {
  readonly reason: string;
}
