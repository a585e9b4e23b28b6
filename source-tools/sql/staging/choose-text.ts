import type { Work } from './work';
import { TARGET } from './catalog-queries';
import { relationLabel } from './identifiers';
import { OWN_SCHEMA } from './marker';
import type { Row, Session } from './session';

/** SQL to send for a unit of work, and what it cannot capture. */
export type Choice =
  | { readonly declined: string }
  | {
      readonly text: string;
      readonly captures: boolean;
      /** Why rows are counted but not captured, or null. */
      readonly reason: string | null;
      /** Oids of the tables whose rows are not captured. */
      readonly incomplete: readonly string[];
    };

/** `known` caches catalog lookups by relation. Rejects with the driver's error. */
export async function chooseText(session: Session, work: Work, known: Map<string, Row | undefined>): Promise<Choice> {
  if (work.target === null) return { text: work.plain, captures: false, reason: null, incomplete: [] };
  if (!known.has(work.target)) known.set(work.target, (await session.rows(TARGET, [work.target]))[0]);
  const found = known.get(work.target);
  // Unknown relation: send the statement, so that the server reports its own error.
  if (found === undefined) return { text: work.plain, captures: false, reason: null, incomplete: [] };
  const [, kind, hasRules, schema, name, family] = found;
  const label = relationLabel(schema ?? '', name ?? '');
  if (kind === 'f')
    return { declined: `${work.place}: ${label} is a foreign table, so its rows are outside this database` };
  if (schema === OWN_SCHEMA)
    return { declined: `${work.place}: ${label} belongs to Countersign, and changes must not write to it` };
  const all = JSON.parse(family ?? '[]') as string[];
  if ((kind !== 'r' && kind !== 'p') || hasRules === 't') {
    const what = kind === 'v' ? 'is a view' : hasRules === 't' ? 'has rewrite rules' : 'is not a regular table';
    return {
      text: work.plain,
      captures: false,
      reason: `${work.place}: ${label} ${what}, so rows are counted, not captured`,
      incomplete: all,
    };
  }
  const instrumented = work.instrument(session.versionNumber);
  if (instrumented.captures) return { text: instrumented.text, captures: true, reason: null, incomplete: [] };
  return {
    text: instrumented.text,
    captures: false,
    reason: `${work.place}: ${instrumented.reason}`,
    incomplete: all,
  };
}
