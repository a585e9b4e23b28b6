/**
 * Reads a `SQLCAS` document: rows to compare and set. Strict: a document that is not fully understood is refused.
 *
 * `{"rows": [{"op": "update", "table": "public.orders", "key": {"id": 17}, "expect": {"version": 3}, "set": {"status": "paid"}}]}`
 * `op` is update (default), insert or delete. `expect` lists columns and the values they must still have. Its reserved member
 * `rowSha` is a hash of the full row (see `staging/cas-sql.ts`). An insert requires that no row has its key.
 */
import { z } from 'zod';
import { canonicalJson, type JsonValue } from '../../../policy/contracts/canonical-json';
import { MAX_DIFF_BYTES, Sha256Hex } from '../../../policy/contracts/diff';
import type { FactsRefusal, Span } from '../../../policy/contracts/facts';
import { CAS_PARSER, type SqlCasFacts } from './sql-cas-facts';
import { readJson } from '../../../policy/text/json-text';
import { decodeUtf8 } from '../../../policy/text/utf8';
import { inexactNumberAt } from '../../../policy/text/exact-number';

const MAX_CAS_ROWS = 1000;
const MAX_JSON_DEPTH = 32;

// Names are used exactly as written and are quoted in the SQL. Tables with other names need SQLDryRun.
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_$]{0,62}$/;
const Column = z.string().regex(IDENTIFIER, 'expected a column name of at most 63 characters from A-Z a-z 0-9 _ $');
const Table = z
  .string()
  .refine(
    (t) => t.split('.').length === 2 && t.split('.').every((p) => IDENTIFIER.test(p)),
    'expected schema.table, for example public.orders',
  );
const Scalar = z.union([z.string(), z.number(), z.boolean()]);
const Json: z.ZodType<JsonValue> = z.json();
const columns = <T extends z.ZodType>(value: T) =>
  z.record(Column, value).refine((r) => Object.keys(r).length <= 200, 'expected at most 200 columns');
const isNonEmpty = (r: object): boolean => Object.keys(r).length > 0;

const CasRow = z
  .strictObject({
    op: z.enum(['update', 'insert', 'delete']).default('update'),
    table: Table,
    key: columns(Scalar).refine(isNonEmpty, 'expected at least one key column'),
    expect: columns(Json).refine(isNonEmpty, 'expected at least one column, or rowSha').optional(),
    set: columns(Json).refine(isNonEmpty, 'expected at least one column').optional(),
  })
  .superRefine((row, ctx) => {
    const check = (ok: boolean, path: string, message: string): void => {
      if (!ok) ctx.addIssue({ code: 'custom', path: [path], message });
    };
    check(
      row.op === 'insert' || row.expect !== undefined,
      'expect',
      `expected the column values or the rowSha that this ${row.op} was based on`,
    );
    check(
      row.op !== 'insert' || row.expect === undefined,
      'expect',
      'not allowed for an insert, which already requires that its key does not exist',
    );
    check(row.op === 'delete' || row.set !== undefined, 'set', `expected the columns that this ${row.op} sets`);
    check(row.op !== 'delete' || row.set === undefined, 'set', 'not allowed for a delete');
    check(
      !Object.keys(row.set ?? {}).some((c) => Object.hasOwn(row.key, c)),
      'set',
      'a key column cannot be set; use a delete and an insert',
    );
    const sha = row.expect?.['rowSha'];
    check(
      sha === undefined || Sha256Hex.safeParse(sha).success,
      'expect',
      'rowSha: expected 64 lowercase hexadecimal digits',
    );
  });
export type CasRow = z.infer<typeof CasRow>;

const CasDocument = z.strictObject({ rows: z.array(CasRow).min(1).max(MAX_CAS_ROWS) });

type CasRead = { readonly ok: true; readonly rows: readonly CasRow[]; readonly facts: SqlCasFacts } | FactsRefusal;

/**
 * Reads a document, or returns a refusal. Pure and bounded. Refusal codes: `empty`, `too_large`, `nul_byte`, `invalid_utf8`,
 * `syntax_error`, `duplicate_key`, `too_deep`, `lone_surrogate`, `inexact_number`, `reserved_key`, `invalid_document`,
 * `duplicate_row`.
 */
export function readCasDocument(raw: Uint8Array): CasRead {
  if (raw.length === 0) return refusal('empty', 'The document is empty');
  if (raw.length > MAX_DIFF_BYTES)
    return refusal('too_large', `The document has ${raw.length} bytes; at most ${MAX_DIFF_BYTES} are allowed`);
  if (raw.includes(0)) return refusal('nul_byte', 'The document contains a NUL byte');
  const text = decodeUtf8(raw);
  if (text === null) return refusal('invalid_utf8', 'The document is not valid UTF-8');
  const read = readJson(text, MAX_JSON_DEPTH);
  if (!read.ok) {
    const code = JSON_CODES[read.reason] ?? 'syntax_error';
    return refusal(code, `The document is not valid JSON: ${read.reason.replaceAll('_', ' ')}`, spanAt(text, read.at));
  }
  const inexact = inexactNumberAt(text);
  if (inexact !== null) {
    return refusal(
      'inexact_number',
      'This number cannot be represented exactly as a double; write it as a string to keep all digits',
      spanAt(text, inexact),
    );
  }
  if (hasReservedKey(read.value))
    return refusal('reserved_key', 'The document contains a member named __proto__, which is not allowed');
  const parsed = CasDocument.safeParse(read.value);
  if (!parsed.success) {
    const problems = parsed.error.issues.slice(0, 5).map((i) => `/${i.path.join('/')}: ${i.message}`);
    return refusal('invalid_document', `Invalid document: ${problems.join('; ')}`);
  }
  const { rows } = parsed.data;
  const firstByRow = new Map<string, number>();
  for (const [index, row] of rows.entries()) {
    const key = canonicalJson([row.table, row.key]);
    const first = firstByRow.get(key);
    if (first !== undefined)
      return refusal(
        'duplicate_row',
        `/rows/${index} changes the same row as /rows/${first}; merge them into one operation`,
      );
    firstByRow.set(key, index);
  }
  return { ok: true, rows, facts: toFacts(rows) };
}

/** Refusal codes for JSON that is not accepted, by the reason; any other reason is a `syntax_error`. */
const JSON_CODES: Readonly<Record<string, string>> = {
  duplicate_key: 'duplicate_key',
  too_deep: 'too_deep',
  lone_surrogate: 'lone_surrogate',
  number_range: 'inexact_number',
};

function toFacts(rows: readonly CasRow[]): SqlCasFacts {
  const written = new Map<string, Set<string>>();
  for (const row of rows) {
    const set = written.get(row.table) ?? new Set<string>();
    for (const column of [...Object.keys(row.set ?? {}), ...(row.op === 'insert' ? Object.keys(row.key) : [])])
      set.add(column);
    written.set(row.table, set);
  }
  const tables = [...written.keys()].sort();
  return {
    ok: true,
    kind: 'sql-cas',
    parser: CAS_PARSER,
    operations: rows.map((row, index) => ({
      op: row.op,
      table: row.table,
      keyColumns: Object.keys(row.key).sort(),
      expectColumns: expectedColumns(row),
      expectsRow: row.expect?.['rowSha'] !== undefined,
      setColumns: Object.keys(row.set ?? {}).sort(),
      pointer: `/rows/${index}`,
    })),
    tables,
    written: tables.map((table) => ({ table, columns: [...(written.get(table) ?? [])].sort() })),
  };
}

/** Column names of `expect` without the reserved `rowSha`, sorted. */
export function expectedColumns(row: CasRow): string[] {
  return Object.keys(row.expect ?? {})
    .filter((name) => name !== 'rowSha')
    .sort();
}

/** Zod's record type drops `__proto__` silently, so it is refused before validation. */
function hasReservedKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasReservedKey);
  return Object.keys(value).includes('__proto__') || Object.values(value).some(hasReservedKey);
}

function refusal(code: string, message: string, span: Span | null = null): FactsRefusal {
  return { ok: false, code, message, span };
}

function spanAt(text: string, at: number): Span {
  const before = text.slice(0, at).split('\n');
  const startLine = before.length;
  const startColumn = (before.at(-1)?.length ?? 0) + 1;
  return { startLine, startColumn, endLine: startLine, endColumn: startColumn + 1 };
}
