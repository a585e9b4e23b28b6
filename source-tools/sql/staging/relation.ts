import type { Row } from './driver-client';

/** A table, view or sequence, as `RELATIONS_FOR_CHECK` returns it. */
export interface Relation {
  readonly oid: string;
  readonly kind: string;
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly generated: readonly string[];
  /** Oids of the relation itself and all its children. */
  readonly family: readonly string[];
  /** Estimated. */
  readonly rows: number;
}

export function toRelation(row: Row): Relation {
  const [oid, kind, schema, name, columns, generated, family, rows] = row;
  return {
    oid: oid ?? '0',
    kind: kind ?? '',
    schema: schema ?? '',
    name: name ?? '',
    columns: JSON.parse(columns ?? '[]') as string[],
    generated: JSON.parse(generated ?? '[]') as string[],
    family: JSON.parse(family ?? '[]') as string[],
    rows: Number(rows ?? 0),
  };
}
