/**
 * The bytes of `SQLCAS`: rows to compare and set. Strict: what is not understood in full is refused.
 *
 * `{"rows": [{"op": "update", "table": "public.orders", "key": {"id": 17}, "expect": {"version": 3}, "set": {"status": "paid"}}]}`
 * `op` is update (default), insert or delete. `expect` names columns and the values they must still have; its member
 * `rowSha` stands for the whole row (`row-sha.ts` says what is hashed). An insert expects that its key is free.
 */
import { z } from 'zod';
import { canonicalJson, type JsonValue } from '../../../policy/contracts/canonical-json';
import { MAX_DIFF_BYTES, Sha256Hex } from '../../../policy/contracts/diff';
import type { FactsRefusal, Span } from '../../../policy/contracts/facts';
import { CAS_PARSER } from './sql-cas-facts';
import type { SqlCasFacts } from './sql-cas-facts';
import { readJson } from '../../../policy/text/json-text';
import { decodeUtf8 } from '../../../policy/text/utf8';
import { inexactNumberAt } from '../../../policy/text/exact-number';

export const MAX_CAS_ROWS = 1000;
const MAX_JSON_DEPTH = 32;

// Exact names, quoted by us. Other names exist in PostgreSQL; whoever has them uses SQLDryRun.
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_$]{0,62}$/;
const Column = z.string().regex(IDENTIFIER, 'expected a column name of A-Z a-z 0-9 _ $, at most 63');
const Table = z
  .string()
  .refine(
    (t) => t.split('.').length === 2 && t.split('.').every((p) => IDENTIFIER.test(p)),
    'expected schema.table, such as public.orders',
  );
const Scalar = z.union([z.string(), z.number(), z.boolean()]);
const Json: z.ZodType<JsonValue> = z.json();
const columns = <T extends z.ZodType>(value: T) =>
  z.record(Column, value).refine((r) => Object.keys(r).length <= 200, 'expected at most 200 columns');
const some = (r: object): boolean => Object.keys(r).length > 0;

const CasRow = z
  .strictObject({
    op: z.enum(['update', 'insert', 'delete']).default('update'),
    table: Table,
    key: columns(Scalar).refine(some, 'expected at least one key column'),
    expect: columns(Json).refine(some, 'expected at least one column, or rowSha').optional(),
    set: columns(Json).refine(some, 'expected at least one column').optional(),
  })
  .superRefine((row, ctx) => {
    const must = (ok: boolean, path: string, message: string): void => {
      if (!ok) ctx.addIssue({ code: 'custom', path: [path], message });
    };
    must(
      row.op === 'insert' || row.expect !== undefined,
      'expect',
      `${row.op} needs the version it was written against`,
    );
    must(
      row.op !== 'insert' || row.expect === undefined,
      'expect',
      'an insert expects that its key is free; leave it out',
    );
    must(row.op === 'delete' || row.set !== undefined, 'set', `${row.op} needs columns to set`);
    must(row.op !== 'delete' || row.set === undefined, 'set', 'a delete sets nothing; leave it out');
    must(
      !Object.keys(row.set ?? {}).some((c) => Object.hasOwn(row.key, c)),
      'set',
      'a key column cannot be set; delete and insert instead',
    );
    const sha = row.expect?.['rowSha'];
    must(sha === undefined || Sha256Hex.safeParse(sha).success, 'expect', 'rowSha: expected 64 lower-case hex digits');
  });
export type CasRow = z.infer<typeof CasRow>;

const CasDocument = z.strictObject({ rows: z.array(CasRow).min(1).max(MAX_CAS_ROWS) });

export type CasRead =
  { readonly ok: true; readonly rows: readonly CasRow[]; readonly facts: SqlCasFacts } | FactsRefusal;

/** Pure and bounded. Refusal codes: empty, too_large, nul_byte, invalid_utf8, syntax_error, duplicate_key, too_deep, inexact_number, reserved_key, invalid_document, duplicate_row. */
export function readCasDocument(raw: Uint8Array): CasRead {
  if (raw.length === 0) return refusal('empty', 'there are no bytes');
  if (raw.length > MAX_DIFF_BYTES)
    return refusal('too_large', `expected at most ${MAX_DIFF_BYTES} bytes, got ${raw.length}`);
  if (raw.includes(0)) return refusal('nul_byte', 'the text holds a NUL byte');
  const text = decodeUtf8(raw);
  if (text === null) return refusal('invalid_utf8', 'the bytes are not UTF-8');
  const read = readJson(text, MAX_JSON_DEPTH);
  if (!read.ok) {
    const code =
      read.reason === 'duplicate_key' || read.reason === 'too_deep' || read.reason === 'lone_surrogate'
        ? read.reason
        : read.reason === 'number_range'
          ? 'inexact_number'
          : 'syntax_error';
    return refusal(code, `the JSON is refused: ${read.reason.replaceAll('_', ' ')}`, spanAt(text, read.at));
  }
  const inexact = inexactNumberAt(text);
  if (inexact !== null) {
    return refusal(
      'inexact_number',
      'a number that a double does not hold exactly: write it as a string, and PostgreSQL reads all its digits',
      spanAt(text, inexact),
    );
  }
  if (holdsReservedKey(read.value)) return refusal('reserved_key', 'a member called __proto__ is refused');
  const parsed = CasDocument.safeParse(read.value);
  if (!parsed.success) {
    const said = parsed.error.issues.slice(0, 5).map((i) => `/${i.path.join('/')}: ${i.message}`);
    return refusal('invalid_document', said.join('; '));
  }
  const { rows } = parsed.data;
  const places = new Map<string, number>();
  for (const [index, row] of rows.entries()) {
    const place = canonicalJson([row.table, row.key]);
    const first = places.get(place);
    if (first !== undefined)
      return refusal('duplicate_row', `/rows/${index} is the same row as /rows/${first}; say all of it in one`);
    places.set(place, index);
  }
  return { ok: true, rows, facts: toFacts(rows) };
}

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

/** Columns of `expect`, without the reserved `rowSha`. Sorted. */
export function expectedColumns(row: CasRow): string[] {
  return Object.keys(row.expect ?? {})
    .filter((name) => name !== 'rowSha')
    .sort();
}

/** The schema's record type drops this key in silence, so it is refused before. */
function holdsReservedKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsReservedKey);
  return Object.keys(value).includes('__proto__') || Object.values(value).some(holdsReservedKey);
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
