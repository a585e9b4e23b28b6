import { escapePointer } from '../../contracts/canonical-json';
import type { ValidatorInput } from '../define';
import { diffEvidence, pointerEvidence, type ExtractedFacts, type Facts, type Span } from '../../contracts/facts';
import { shown } from '../../text/shown-name';
import type { SqlCasFacts } from '../../../source-tools/sql/facts/sql-cas-facts';
import type { SqlFacts, SqlName } from '../../../source-tools/sql/facts/sql-facts';
import { shownName } from '../../text/table-name';

/** One thing that a diff changes, and where it says so. */
export interface Touched {
  readonly kind: 'table' | 'path' | 'pointer';
  /** `schema.table` in two parts for tables; a path from the root of the tree; a JSON pointer. */
  readonly schema: string | null;
  readonly name: string;
  /** For people: safe to print. */
  readonly text: string;
  readonly evidence: string;
}

/** Facts of any other source tool may say themselves what the diff touches. */
export interface TouchingFacts extends ExtractedFacts {
  readonly touched: readonly Omit<Touched, 'evidence' | 'text'>[];
}

/** The name of a table that may be any: as the extractor writes ALL … IN SCHEMA. */
export const ANY = '*';

/** All that the diff changes, in the order of the diff; null where the facts do not say, which is never "nothing". */
export function touchedBy({ facts, diff }: Pick<ValidatorInput, 'facts' | 'diff'>): readonly Touched[] | null {
  if (!facts.ok) return null;
  switch (facts.kind) {
    case 'sql':
      return touchedBySql(facts as SqlFacts, diff.diffSha);
    case 'sql-cas':
      return touchedByCas(facts as SqlCasFacts, diff.diffSha);
    default:
      return declares(facts)
        ? facts.touched.map((t) => ({ ...t, text: shown(t.name), evidence: `diff:${diff.diffSha}#` }))
        : null;
  }
}

function declares(facts: Facts): facts is TouchingFacts {
  return 'touched' in facts && Array.isArray(facts.touched);
}

/** Also what may be touched without being named: by CASCADE, by the drop of a schema, by SQL that is made at run time. */
function touchedBySql(facts: SqlFacts, diffSha: string): Touched[] {
  const table = (relation: SqlName, span: Span, text = shownName(relation)): Touched => {
    return { kind: 'table', ...relation, text, evidence: diffEvidence(diffSha, span) };
  };
  const any = (span: Span, why: string): Touched => table({ schema: null, name: ANY }, span, `whatever ${why} reaches`);
  return [
    ...facts.relations.filter((r) => r.access !== 'read').map((r) => table(r.relation, r.span)),
    ...facts.drops.flatMap((drop) => droppedBy(drop).map((relation) => table(relation, drop.span))),
    ...facts.truncates.flatMap((truncate) => truncate.tables.map((relation) => table(relation, truncate.span))),
    ...facts.cascades.map((cascade) => any(cascade.span, 'CASCADE')),
    ...facts.settings
      .filter((setting) => ['search_path', ANY].includes(setting.name))
      .map((setting) => any(setting.span, 'search_path')),
    ...facts.dynamicSql.filter((dynamic) => !dynamic.constant).map((dynamic) => any(dynamic.span, 'dynamic SQL')),
  ];
}

function droppedBy({ objectType, objects }: SqlFacts['drops'][number]): readonly SqlName[] {
  if (objectType === 'schema') return objects.map((schema) => ({ schema: schema.name, name: ANY }));
  return objectType === 'database' || objectType === 'owned' ? [{ schema: null, name: ANY }] : objects;
}

function touchedByCas(facts: SqlCasFacts, diffSha: string): Touched[] {
  return facts.operations.map(({ table, pointer }) => {
    const dot = table.indexOf('.');
    const relation: SqlName = { schema: dot === -1 ? null : table.slice(0, dot), name: table.slice(dot + 1) };
    return { kind: 'table', ...relation, text: shownName(relation), evidence: pointerEvidence(diffSha, pointer) };
  });
}

/** Why nothing can be said: a finding, never a pass. */
export function unreadable(facts: Facts): string {
  if (!facts.ok) return `The diff could not be read (${facts.code}), so nobody knows what it touches`;
  return 'The facts of this source tool do not say what the diff touches';
}

export function pointerOf(...tokens: readonly string[]): string {
  return tokens.map((token) => `/${escapePointer(token)}`).join('');
}
