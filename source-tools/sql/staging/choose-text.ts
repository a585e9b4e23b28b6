import type { Work } from './work';
import { TARGET } from './catalog-queries';
import { relationLabel } from './identifiers';
import { OWN_SCHEMA } from './marker';
import type { Row } from './driver-client';
import type { Session } from './session';

/** SQL to send for a unit of work, and what it cannot capture. */
export type Choice =
  | { readonly declined: string }
  | {
      readonly text: string;
      readonly captures: boolean;
      /** Query to run before the statement: the rows before it. Null if the statement returns them, or if nothing is captured. */
      readonly oldRows: string | null;
      /** Why rows are counted but not captured, or null. */
      readonly reason: string | null;
      /** Columns of the target in the order in which the server writes them. */
      readonly columns: readonly string[];
      /** Oids of the target and its children. */
      readonly family: readonly string[];
      /** Oids of the children that have more columns than the target. */
      readonly wider: readonly string[];
    };

/**
 * `known` caches catalog lookups by relation. `checked`: whether the statement was found fit for a rehearsal, so that its conditions
 * may be evaluated more than once. Rejects with the driver's error.
 */
export async function chooseText(
  session: Session,
  work: Work,
  known: Map<string, Row | undefined>,
  checked: boolean,
): Promise<Choice> {
  const plain = { text: work.plain, captures: false, oldRows: null, columns: [], family: [], wider: [] } as const;
  if (work.target === null) return { ...plain, reason: null };
  if (!known.has(work.target)) known.set(work.target, (await session.own(TARGET, [work.target]))[0]);
  const found = known.get(work.target);
  // Unknown relation: send the statement, so that the server reports its own error.
  if (found === undefined) return { ...plain, reason: null };
  const [, kind, hasRules, schema, name, columns, family, wider] = found;
  const label = relationLabel(schema ?? '', name ?? '');
  if (kind === 'f')
    return { declined: `${work.place}: ${label} is a foreign table, so its rows are outside this database` };
  if (schema === OWN_SCHEMA)
    return { declined: `${work.place}: ${label} belongs to Countersign, and changes must not write to it` };
  const target = { columns: listed(columns), family: listed(family), wider: listed(wider) };
  const uncaptured = (reason: string): Choice => ({ ...plain, ...target, reason: `${work.place}: ${reason}` });
  if ((kind !== 'r' && kind !== 'p') || hasRules === 't') {
    const what = kind === 'v' ? 'is a view' : hasRules === 't' ? 'has rewrite rules' : 'is not a regular table';
    return uncaptured(`${label} ${what}, so rows are counted, not captured`);
  }
  const instrumented = work.instrument(session.versionNumber);
  if ('uncaptured' in instrumented) return uncaptured(instrumented.uncaptured);
  if (instrumented.oldRows !== null && !checked)
    return uncaptured('the rows before it are not read, because its conditions must be evaluated only once');
  return { ...instrumented, ...target, captures: true, reason: null };
}

function listed(json: string | null | undefined): readonly string[] {
  return JSON.parse(json ?? '[]') as string[];
}
