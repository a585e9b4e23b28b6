import type { DiffInput } from '../../../policy/contracts/diff';
import { diffEvidence, pointerEvidence, type Span } from '../../../policy/contracts/facts';
import type { Touched } from '../../../policy/contracts/source-tool';
import { ANY_TABLE, shownName, type TableName } from '../../../policy/text/table-name';
import { casTable, type SqlCasFacts } from './sql-cas-facts';
import type { SqlFacts } from './sql-facts';

/** Tables that the text may change, including unnamed ones: by CASCADE, by dropping a schema, by SQL built at run time. */
export function touchedBySql(facts: SqlFacts, { diffSha }: DiffInput): readonly Touched[] {
  const table = (relation: TableName, span: Span, text = shownName(relation)): Touched => {
    return { kind: 'table', ...relation, text, evidence: diffEvidence(diffSha, span) };
  };
  const any = (span: Span, why: string): Touched =>
    table({ schema: null, name: ANY_TABLE }, span, `any table affected by ${why}`);
  return [
    ...facts.relations.filter((r) => r.access !== 'read').map((r) => table(r.relation, r.span)),
    ...facts.drops.flatMap((drop) => droppedBy(drop).map((relation) => table(relation, drop.span))),
    ...facts.truncates.flatMap((truncate) => truncate.tables.map((relation) => table(relation, truncate.span))),
    ...facts.cascades.map((cascade) => any(cascade.span, 'CASCADE')),
    ...facts.settings
      .filter((setting) => ['search_path', ANY_TABLE].includes(setting.name))
      .map((setting) => any(setting.span, 'search_path')),
    ...facts.dynamicSql.filter((dynamic) => !dynamic.constant).map((dynamic) => any(dynamic.span, 'dynamic SQL')),
  ];
}

function droppedBy({ objectType, objects }: SqlFacts['drops'][number]): readonly TableName[] {
  if (objectType === 'schema') return objects.map((schema) => ({ schema: schema.name, name: ANY_TABLE }));
  return objectType === 'database' || objectType === 'owned' ? [{ schema: null, name: ANY_TABLE }] : objects;
}

export function touchedByCas(facts: SqlCasFacts, { diffSha }: DiffInput): readonly Touched[] {
  return facts.operations.map(({ table, pointer }) => {
    const relation = casTable(table);
    return { kind: 'table', ...relation, text: shownName(relation), evidence: pointerEvidence(diffSha, pointer) };
  });
}
