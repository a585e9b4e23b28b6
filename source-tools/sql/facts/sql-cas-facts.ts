import type { ExtractedFacts } from '../../../policy/contracts/facts';
import type { FactsMembers } from '../../../policy/contracts/source-tool';

/** Version of the document reader, part of every rule's `logic_hash`. Raise it if the same document gives other facts or messages. */
export const CAS_PARSER = { name: 'countersign-sql-cas', version: '4' } as const;

/** Facts of a `SQLCAS` document. Operations keep the order of the document. Names are exact: case is not folded. */
export interface SqlCasFacts extends ExtractedFacts {
  readonly kind: 'sql-cas';
  readonly operations: readonly SqlCasOperation[];
  /** `schema.table`, each once, sorted. */
  readonly tables: readonly string[];
  /** Columns that are written in each table, sorted. For an insert this includes the key columns. */
  readonly written: readonly { readonly table: string; readonly columns: readonly string[] }[];
}

/** The names of its members, which conditions may read. */
export const SQL_CAS_FACTS: FactsMembers<SqlCasFacts> = {
  operations: true,
  tables: true,
  written: true,
};

/** The parts of `schema.table`, which the document reader has validated. */
export function casTable(table: string): { readonly schema: string; readonly name: string } {
  const [schema = '', name = ''] = table.split('.');
  return { schema, name };
}

export interface SqlCasOperation {
  readonly op: 'update' | 'insert' | 'delete';
  /** `schema.table` */
  readonly table: string;
  readonly keyColumns: readonly string[];
  /** Columns whose values must be unchanged at commit; empty for an insert. */
  readonly expectColumns: readonly string[];
  /** True if `expect` contains `rowSha`, the hash of the full row. */
  readonly expectsRow: boolean;
  readonly setColumns: readonly string[];
  /** JSON pointer of the operation in the document, for example `/rows/0`. Used by `pointerEvidence`. */
  readonly pointer: string;
}
