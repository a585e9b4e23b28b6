import type { Work } from '../../../../source-tools/sql/staging/work';
import { rehearse, type Prepare } from '../../../../source-tools/sql/staging/rehearse';
import { withReturning } from '../../../../source-tools/sql/staging/returning';
import { readStatements } from '../../../../source-tools/sql/staging/statements';
import { startTargetServer, stopTargetServersAtEnd, type TargetServer } from './target-server';
import { recordOf, stageContext } from './sql-diff';

let pg: TargetServer;
stopTargetServersAtEnd();
beforeAll(async () => {
  pg = await startTargetServer();
  await pg.admin(
    'CREATE TABLE t (id int PRIMARY KEY, x int, at timestamptz); INSERT INTO t SELECT g, 0, now() FROM generate_series(1, 5) g',
  );
  await pg.grant();
});

const DECLARED = { settings: { volatileColumns: ['public.t.at'] } };
const SQL = 'UPDATE t SET x = x + 1, at = clock_timestamp() WHERE id <= 2';

/** Prepares the statement above. `before` makes concurrent changes before the n-th run. */
async function prepareWith(
  before: (run: number) => Promise<unknown>,
): Promise<{ prepare: Prepare; runs: () => number }> {
  const read = await readStatements(new TextEncoder().encode(SQL));
  const [statement] = read.ok ? read.statements : [];
  if (statement === undefined) throw new Error('The statement cannot be read');
  const work: Work = {
    place: 'statement 1',
    sha: statement.sha,
    command: 'UPDATE',
    values: [],
    target: '"public"."t"',
    plain: statement.text,
    instrument: (version) => withReturning(statement, version),
    uncapturable: null,
    exactlyOne: false,
  };
  let runs = 0;
  return {
    runs: () => runs,
    prepare: async (_session, gate) => {
      await before(++runs);
      const outcome = await gate([work]);
      return outcome === null ? { ok: true, works: [work] } : { ok: false, outcome };
    },
  };
}

describe('the second dry run', () => {
  it('is enough if no other session changes the rows', async () => {
    const { prepare, runs } = await prepareWith(async () => {});
    expect(recordOf(await rehearse(stageContext(pg.stageUrl, SQL, DECLARED), prepare)).tables[0]).toMatchObject({
      volatileColumns: ['at'],
    });
    expect(runs()).toBe(2);
  });

  it('is followed by a third if another session changed a row in between, which does not make a column volatile', async () => {
    const { prepare, runs } = await prepareWith(
      async (run) => run === 2 && pg.admin('UPDATE t SET x = 10 WHERE id = 1'),
    );
    const record = recordOf(await rehearse(stageContext(pg.stageUrl, SQL, DECLARED), prepare));
    expect(runs()).toBe(3);
    expect(record).toMatchObject({
      tables: [{ volatileColumns: ['at'], touchedSha: expect.any(String) }],
      fullyCaptured: true,
    });
  });

  it('is not repeated more than once: if the rows change each time, the record is not fully captured', async () => {
    const { prepare, runs } = await prepareWith((run) => pg.admin(`UPDATE t SET x = ${run + 100} WHERE id = 1`));
    const record = recordOf(await rehearse(stageContext(pg.stageUrl, SQL, DECLARED), prepare));
    expect(runs()).toBe(3);
    expect(record).toMatchObject({
      tables: [{ updated: 2, touchedSha: null }],
      fullyCaptured: false,
      uncaptured: ['public.t: two dry runs did not change the same rows in the same way'],
    });
  });
});
