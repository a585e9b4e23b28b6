import type { ExtractedFacts } from '../../../policy/contracts/facts';

/** Our reading of a document of rows: part of every rule's `logic_hash`. */
export const CAS_PARSER = { name: 'countersign-sql-cas', version: '1' } as const;

/** What the extractor of `SQLCAS` reads: each operation, in the order of the document. Names are exact, never folded. */
export interface SqlCasFacts extends ExtractedFacts {
  readonly kind: 'sql-cas';
  readonly operations: readonly SqlCasOperation[];
  /** `schema.table`, each once, sorted. */
  readonly tables: readonly string[];
  /** Columns that are set, by table, sorted; an insert sets its key too. */
  readonly written: readonly { readonly table: string; readonly columns: readonly string[] }[];
}

export interface SqlCasOperation {
  readonly op: 'update' | 'insert' | 'delete';
  /** `schema.table` */
  readonly table: string;
  readonly keyColumns: readonly string[];
  /** Columns whose values must still be what the author saw; empty for an insert. */
  readonly expectColumns: readonly string[];
  /** True where the whole row is expected, by its hash. */
  readonly expectsRow: boolean;
  readonly setColumns: readonly string[];
  /** JSON pointer of the operation in the document, such as `/rows/0`, for `pointerEvidence`. */
  readonly pointer: string;
}
