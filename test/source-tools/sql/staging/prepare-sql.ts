import { toWorks } from '../../../../source-tools/sql/staging/dry-run-effects';
import type { Prepare } from '../../../../source-tools/sql/staging/rehearse';
import type { Session } from '../../../../source-tools/sql/staging/session';
import type { Work } from '../../../../source-tools/sql/staging/work';

/** The work of SQL text, as in a dry run. */
export async function worksOf(sql: string): Promise<readonly Work[]> {
  const read = await toWorks(new TextEncoder().encode(sql));
  if (!read.ok) throw new Error(read.explanation);
  return read.works;
}

/** Prepares SQL text as a dry run does. `before` is called before the check of the n-th run. */
export async function prepareSql(
  sql: string,
  before: (run: number, session: Session) => Promise<unknown> = async () => {},
): Promise<{ readonly prepare: Prepare; readonly runs: () => number }> {
  const works = await worksOf(sql);
  let runs = 0;
  return {
    runs: () => runs,
    prepare: async (session, gate) => {
      await before(++runs, session);
      const outcome = await gate(works);
      return outcome === null ? { ok: true, works } : { ok: false, outcome };
    },
  };
}
