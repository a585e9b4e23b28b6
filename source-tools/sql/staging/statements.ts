/**
 * Splits SQL text into statements with PostgreSQL's grammar, and classifies them for the dry run.
 *
 * The parser's offsets are UTF-8 bytes, so bytes are split and not a JS string.
 */
import { createHash } from 'node:crypto';
import { lex } from '../facts/lexer';
import { loadParser, parseStatements, type Tree } from '../facts/parser';
import { child, has, list, nodeOf, rangeName, text, typed } from '../facts/tree';
import { decodeUtf8 } from '../../../policy/text/utf8';

const MAX_STATEMENTS = 1000;

/** `rows`: RETURNING captures its rows. `counted`: only statistics count them. `schema`, `truncate`: neither. `refused`: never sent. */
type StatementKind = 'rows' | 'counted' | 'schema' | 'truncate' | 'refused';

interface RelationName {
  readonly schema: string | null;
  readonly name: string;
  /** Alias of the relation in the statement, or its name. */
  readonly alias: string;
}

/** `absent`; the names of OLD and NEW in an existing RETURNING; or `unclear` if a relation of the statement has such a name. */
type Returning = 'absent' | 'unclear' | { readonly old: string; readonly new: string };

export interface Statement {
  readonly index: number;
  /** As split by the parser, including comments. */
  readonly text: string;
  /** SHA-256 of its bytes without surrounding whitespace and comments. */
  readonly sha: string;
  /** In upper case, for example `UPDATE` or `CREATE TABLE`. */
  readonly command: string;
  readonly kind: StatementKind;
  /** The written relation of a statement of kind `rows`, else null. */
  readonly target: RelationName | null;
  readonly returning: Returning;
  /** INSERT … ON CONFLICT DO UPDATE. Its old rows cannot be captured before PostgreSQL 18. */
  readonly upsert: boolean;
}

export type Statements =
  { readonly ok: true; readonly statements: readonly Statement[] } | { readonly ok: false; readonly message: string };

/** Refuses invalid UTF-8, NUL bytes, invalid SQL, text without a statement, and more than 1000 statements. Rejects only if the parser's module is missing. */
export async function readStatements(raw: Uint8Array): Promise<Statements> {
  await loadParser();
  // The parser reads a C string, so it would ignore everything after a NUL byte.
  if (raw.includes(0)) return refusal('the text contains a NUL byte');
  const sql = decodeUtf8(raw);
  if (sql === null) return refusal('the text is not valid UTF-8');
  const parsed = parseStatements(sql);
  // Any error of the parser, including its own limits, means that the text cannot be used.
  if (!parsed.ok) return refusal('the text is not valid PostgreSQL 18 syntax');
  const found = parsed.value;
  if (found.length === 0) return refusal('the text contains no statement');
  if (found.length > MAX_STATEMENTS)
    return refusal(`the text contains ${found.length} statements; at most ${MAX_STATEMENTS} are allowed`);
  const statements = found.map(({ stmt, location, length }, index) =>
    toStatement(index, raw.subarray(location, length === null ? raw.length : location + length), stmt),
  );
  return { ok: true, statements };
}

function refusal(message: string): Statements {
  return { ok: false, message };
}

function toStatement(index: number, bytes: Uint8Array, stmt: Tree): Statement {
  const { type, node } = typed(stmt) ?? { type: 'unknown', node: {} };
  const kind = kindOf(type);
  return {
    index,
    text: decodeUtf8(bytes) as string,
    sha: createHash('sha256').update(tokenRange(bytes)).digest('hex'),
    command: commandOf(type, node),
    kind,
    target: kind === 'rows' ? relationName(child(node, 'relation')) : null,
    returning: returningOf(node),
    upsert: text(child(node, 'onConflictClause'), 'action') === 'ONCONFLICT_UPDATE',
  };
}

const ROWS: Readonly<Record<string, string>> = {
  InsertStmt: 'INSERT',
  UpdateStmt: 'UPDATE',
  DeleteStmt: 'DELETE',
  MergeStmt: 'MERGE',
};
const COUNTED: Readonly<Record<string, string>> = {
  SelectStmt: 'SELECT',
  DoStmt: 'DO',
  CallStmt: 'CALL',
  ExplainStmt: 'EXPLAIN',
  PrepareStmt: 'PREPARE',
  ExecuteStmt: 'EXECUTE',
  DeallocateStmt: 'DEALLOCATE',
  LockStmt: 'LOCK TABLE',
  ConstraintsSetStmt: 'SET CONSTRAINTS',
  VariableShowStmt: 'SHOW',
};
const SCHEMA: Readonly<Record<string, string>> = {
  CreateStmt: 'CREATE TABLE',
  CreateTableAsStmt: 'CREATE TABLE AS',
  AlterTableStmt: 'ALTER',
  IndexStmt: 'CREATE INDEX',
  DropStmt: 'DROP',
  RenameStmt: 'ALTER RENAME',
  CommentStmt: 'COMMENT',
  ViewStmt: 'CREATE VIEW',
  CreateSeqStmt: 'CREATE SEQUENCE',
  AlterSeqStmt: 'ALTER SEQUENCE',
  CreateEnumStmt: 'CREATE TYPE',
  CompositeTypeStmt: 'CREATE TYPE',
  CreateRangeStmt: 'CREATE TYPE',
  AlterEnumStmt: 'ALTER TYPE',
  CreateDomainStmt: 'CREATE DOMAIN',
  AlterDomainStmt: 'ALTER DOMAIN',
  CreateTrigStmt: 'CREATE TRIGGER',
  CreateFunctionStmt: 'CREATE FUNCTION',
  AlterFunctionStmt: 'ALTER FUNCTION',
  CreateSchemaStmt: 'CREATE SCHEMA',
  AlterObjectSchemaStmt: 'ALTER SET SCHEMA',
  AlterOwnerStmt: 'ALTER OWNER',
  GrantStmt: 'GRANT',
  CreatePolicyStmt: 'CREATE POLICY',
  AlterPolicyStmt: 'ALTER POLICY',
  CreateStatsStmt: 'CREATE STATISTICS',
  RuleStmt: 'CREATE RULE',
  DefineStmt: 'CREATE',
  RefreshMatViewStmt: 'REFRESH MATERIALIZED VIEW',
};

/** An allowlist: transaction control, SET, COPY, NOTIFY, LOAD, role and database commands, and commands of a later grammar are never sent. */
function kindOf(type: string): StatementKind {
  if (type in ROWS) return 'rows';
  if (type in COUNTED) return 'counted';
  if (type in SCHEMA) return 'schema';
  return type === 'TruncateStmt' ? 'truncate' : 'refused';
}

function commandOf(type: string, node: Tree): string {
  if (type === 'TransactionStmt')
    return (text(node, 'kind') || 'TRANSACTION').replace('TRANS_STMT_', '').replaceAll('_', ' ');
  if (type === 'TruncateStmt') return 'TRUNCATE';
  return ROWS[type] ?? COUNTED[type] ?? SCHEMA[type] ?? type.replace(/Stmt$/, '').slice(0, 60).toUpperCase();
}

function relationName(range: Tree): RelationName | null {
  if (!has(range, 'relname')) return null;
  const { schema, name } = rangeName(range);
  return { schema, name, alias: text(child(range, 'alias'), 'aliasname') || name };
}

function returningOf(node: Tree): Returning {
  if (!has(node, 'returningClause')) return 'absent';
  const names = { old: 'old', new: 'new' };
  for (const item of list(child(node, 'returningClause'), 'options')) {
    const option = nodeOf(item);
    const name = text(option, 'value');
    if (name === '') return 'unclear';
    if (text(option, 'option') === 'RETURNING_OPTION_OLD') names.old = name;
    else names.new = name;
  }
  // In `UPDATE t AS old … RETURNING old.*` the name refers to the table (PostgreSQL 18.4), so new rows would be hashed as old ones.
  const taken = relationNames(node);
  return taken.has(names.old) || taken.has(names.new) ? 'unclear' : names;
}

/** All relation, alias and CTE names at any depth. */
function relationNames(root: Tree): Set<string> {
  const names = new Set<string>();
  const open: unknown[] = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (typeof at !== 'object' || at === null) continue;
    for (const [key, value] of Object.entries(at)) {
      if (typeof value !== 'string') open.push(value);
      else if (key === 'relname' || key === 'aliasname' || key === 'ctename') names.add(value);
    }
  }
  return names;
}

/** Bytes from the first to the last token. The facts hash the same range, so both have the same SHA for a statement. */
function tokenRange(bytes: Uint8Array): Uint8Array {
  const { count, starts, ends } = lex(bytes);
  return count === 0 ? bytes : bytes.subarray(starts[0], ends[count - 1]);
}
