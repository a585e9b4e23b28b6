/**
 * Splits SQL text into statements with PostgreSQL's grammar, and classifies them for the dry run.
 *
 * The parser's offsets are UTF-8 bytes, so bytes are split and not a JS string.
 */
import { createHash } from 'node:crypto';
import { loadModule, parseSync } from 'libpg-query';
import { lex } from '../facts/lexer';
import { decodeUtf8 } from '../../../policy/text/utf8';

export const MAX_STATEMENTS = 1000;

/** `rows`: RETURNING captures its rows. `counted`: only statistics count them. `schema`, `truncate`: neither. `refused`: never sent. */
export type StatementKind = 'rows' | 'counted' | 'schema' | 'truncate' | 'refused';

export interface RelationName {
  readonly schema: string | null;
  readonly name: string;
  /** Alias of the relation in the statement, or its name. */
  readonly alias: string;
}

/** `absent`; the names of OLD and NEW in an existing RETURNING; or `unclear` if a relation of the statement has such a name. */
export type Returning = 'absent' | 'unclear' | { readonly old: string; readonly new: string };

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
  | { readonly ok: true; readonly statements: readonly Statement[] }
  | { readonly ok: false; readonly code: string; readonly message: string };

type Tree = { readonly [key: string]: unknown };

/** Loads the WebAssembly module once. */
export async function loadSqlParser(): Promise<void> {
  await loadModule();
}

/** Refuses invalid UTF-8, NUL bytes, invalid SQL, text without a statement, and more than 1000 statements. Rejects only if the parser's module is missing. */
export async function readStatements(raw: Uint8Array): Promise<Statements> {
  await loadSqlParser();
  // The parser reads a C string, so it would ignore everything after a NUL byte.
  if (raw.includes(0)) return { ok: false, code: 'nul_byte', message: 'the text contains a NUL byte' };
  const text = decodeUtf8(raw);
  if (text === null) return { ok: false, code: 'invalid_utf8', message: 'the text is not valid UTF-8' };
  let parsed: readonly { readonly stmt?: Tree; readonly stmt_location?: number; readonly stmt_len?: number }[];
  try {
    parsed = (parseSync(text) as unknown as { stmts?: typeof parsed }).stmts ?? [];
  } catch {
    // Any error of the parser, including its own limits, means that the text cannot be used.
    return { ok: false, code: 'syntax_error', message: 'the text is not valid PostgreSQL 18 syntax' };
  }
  if (parsed.length === 0) return { ok: false, code: 'empty', message: 'the text contains no statement' };
  if (parsed.length > MAX_STATEMENTS) {
    return {
      ok: false,
      code: 'too_many_statements',
      message: `the text contains ${parsed.length} statements; at most ${MAX_STATEMENTS} are allowed`,
    };
  }
  const statements = parsed.map((s, index) => {
    const start = s.stmt_location ?? 0;
    const end = s.stmt_len === undefined ? raw.length : start + s.stmt_len;
    return toStatement(index, raw.subarray(start, end), s.stmt ?? {});
  });
  return { ok: true, statements };
}

function toStatement(index: number, bytes: Uint8Array, stmt: Tree): Statement {
  const [node = 'unknown'] = Object.keys(stmt);
  const tree = (stmt[node] ?? {}) as Tree;
  const kind = kindOf(node);
  return {
    index,
    text: decodeUtf8(bytes) as string,
    sha: createHash('sha256').update(tokenRange(bytes)).digest('hex'),
    command: commandOf(node, tree),
    kind,
    target: kind === 'rows' ? relationName(tree['relation'] as Tree) : null,
    returning: returningOf(tree),
    upsert: (tree['onConflictClause'] as Tree | undefined)?.['action'] === 'ONCONFLICT_UPDATE',
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
function kindOf(node: string): StatementKind {
  if (node in ROWS) return 'rows';
  if (node in COUNTED) return 'counted';
  if (node in SCHEMA) return 'schema';
  return node === 'TruncateStmt' ? 'truncate' : 'refused';
}

function commandOf(node: string, tree: Tree): string {
  if (node === 'TransactionStmt')
    return String(tree['kind'] ?? 'TRANSACTION')
      .replace('TRANS_STMT_', '')
      .replaceAll('_', ' ');
  if (node === 'TruncateStmt') return 'TRUNCATE';
  return ROWS[node] ?? COUNTED[node] ?? SCHEMA[node] ?? node.replace(/Stmt$/, '').slice(0, 60).toUpperCase();
}

function relationName(relation: Tree | undefined): RelationName | null {
  const name = relation?.['relname'];
  if (typeof name !== 'string') return null;
  const schema = relation?.['schemaname'];
  const alias = (relation?.['alias'] as Tree | undefined)?.['aliasname'];
  return {
    schema: typeof schema === 'string' ? schema : null,
    name,
    alias: typeof alias === 'string' ? alias : name,
  };
}

function returningOf(tree: Tree): Returning {
  const clause = tree['returningClause'] as Tree | undefined;
  if (clause === undefined) return 'absent';
  const names = { old: 'old', new: 'new' };
  for (const item of (clause['options'] as readonly Tree[] | undefined) ?? []) {
    const option = item['ReturningOption'] as Tree | undefined;
    if (typeof option?.['value'] !== 'string') return 'unclear';
    if (option['option'] === 'RETURNING_OPTION_OLD') names.old = option['value'];
    else names.new = option['value'];
  }
  // In `UPDATE t AS old … RETURNING old.*` the name refers to the table (PostgreSQL 18.4), so new rows would be hashed as old ones.
  const taken = relationNames(tree);
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
