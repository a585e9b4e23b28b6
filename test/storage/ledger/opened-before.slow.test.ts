import { createLedger } from '../../../storage/ledger/ledger';
import { ledgerWithAdvisoryLock } from '../../../storage/ledger/with-advisory-lock';
import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { RollbackReason } from '../../../policy/contracts/outcome';
import type { AdvisoryLock, WithAdvisoryLock, Ledger, OpenedQuery } from '../../../policy/evidence/ledger-port';
import { memoryWithAdvisoryLock, memoryLedger } from '../../support/memory-ledger';
import { eventually } from '../../support/eventually';
import { useDatabase } from '../../support/postgres';

const database = useDatabase({ anyTime: true });

const NOON = Date.parse('2026-03-01T12:00:00.000Z');
const minute = (n: number): string => new Date(NOON + n * 60_000).toISOString();
const WAITING_FOR_A_LOCK = `
  select from pg_locks
  where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`;
const MEASURE = { bytes: 1, operations: 1, deletions: 0, rows: null, places: [] };
let tenants = 0;
let changes = 0;

/** Opens and closes changes. Each instance has a separate tenant. */
class Bench {
  readonly tenant = `tenant_${++tenants}`;
  constructor(
    readonly ledger: Ledger,
    readonly committer: Ledger,
  ) {}

  async open(
    more: {
      at?: string;
      target?: string;
      sourceTool?: string;
      requester?: string | null;
      measure?: JsonValue;
      metadata?: JsonValue;
      ledger?: Ledger;
    } = {},
  ): Promise<string> {
    const changeId = (++changes).toString(16).padStart(64, '0');
    const { at = minute(0), target = 'shop', sourceTool = 'SQLDryRun', requester = 'ada', measure = MEASURE } = more;
    const submission = { tenant: this.tenant, target, sourceTool, metadata: more.metadata ?? {} };
    const body = { inputSha: 'a'.repeat(64), submission, requester, ...(measure === null ? {} : { measure }) };
    await (more.ledger ?? this.ledger).append(changeId, [{ kind: 'submitted', at, factKey: 'submitted', body }], {
      tenant: this.tenant,
      target,
      sourceTool,
      inputSha: 'a'.repeat(64),
      mode: 'enforced',
      requester,
      openedAt: at,
    });
    return changeId;
  }

  async end(changeId: string, state: string, reason: RollbackReason | null): Promise<void> {
    const row = {
      kind: 'closed',
      at: minute(1),

      factKey: 'closed',
      body: { state, reason },
    } as const;
    await this.committer.append(changeId, [row], { state: state as 'ROLLED_BACK', reason, closedAt: minute(1) });
  }

  async before(changeId: string, more: Partial<OpenedQuery> = {}): Promise<string[]> {
    return (await this.openedBefore(changeId, more)).map((c) => c.changeId);
  }

  openedBefore(changeId: string, more: Partial<OpenedQuery> = {}) {
    const all = { target: null, sourceTool: null, requester: null, since: minute(-60), except: [], limit: 100 };
    const unknownOnlyCommitted = false;
    return this.ledger.openedBefore({ changeId, tenant: this.tenant, unknownOnlyCommitted, ...all, ...more });
  }
}

const NEW = 'f'.repeat(64);
const exclusive = (name: string): AdvisoryLock => ({ name, mode: 'exclusive' });
const shared = (name: string): AdvisoryLock => ({ name, mode: 'shared' });
const inMemory = (): Bench => {
  const ledger = memoryLedger();
  return new Bench(ledger, ledger);
};
const kinds = [
  [
    'in PostgreSQL, with the privileges of the roles',
    () => new Bench(createLedger(database.open('cs_review')), createLedger(database.open('cs_commit'))),
  ],
  ['in memory', inMemory],
] as const;

describe.each(kinds)('the changes opened before one, %s', (_name, bench) => {
  test('are listed newest first, in ledger order and not by time, without other tenants', async () => {
    const b = bench();
    const [a, c] = [await b.open({ at: minute(5) }), await b.open({ at: minute(0) })];
    await bench().open();
    expect(await b.before(NEW)).toEqual([c, a]);
    expect(await b.before(c)).toEqual([a]);
    expect(await b.before(a)).toEqual([]);
    expect(await b.before(NEW, { limit: 1 })).toEqual([c]);
  });

  test('are filtered by target, tool and agent, and an unknown agent matches any', async () => {
    const b = bench();
    const own = await b.open();
    const target = await b.open({ target: 'other' });
    const tool = await b.open({ sourceTool: 'SQLCAS' });
    const eve = await b.open({ requester: 'eve' });
    const unknown = await b.open({ requester: null });
    expect(await b.before(NEW)).toEqual([unknown, eve, tool, target, own]);
    expect(await b.before(NEW, { target: 'shop' })).toEqual([unknown, eve, tool, own]);
    expect(await b.before(NEW, { sourceTool: 'SQLDryRun' })).toEqual([unknown, eve, target, own]);
    expect(await b.before(NEW, { requester: 'ada' })).toEqual([unknown, tool, target, own]);
    expect(await b.before(NEW, { requester: 'ada', target: 'shop', sourceTool: 'SQLDryRun' })).toEqual([unknown, own]);
  });

  test('without a known agent count against a known one only once their commit has begun, and not if it was undone', async () => {
    const b = bench();
    const [waiting, committing, done, undone] = await Promise.all([1, 2, 3, 4].map(() => b.open({ requester: null })));
    const intent = { kind: 'intent', at: minute(0), factKey: 'settlement', body: {} } as const;
    for (const id of [committing, done, undone]) await b.committer.append(id ?? '', [intent]);
    await b.end(done ?? '', 'COMMITTED', null);
    await b.end(undone ?? '', 'ROLLED_BACK', 'post_failed');
    const own = await b.open();
    await b.committer.append(waiting ?? '', [intent]);
    const counted = async (more: Partial<OpenedQuery>) => (await b.before(own, more)).sort();
    expect(await counted({ requester: 'ada', unknownOnlyCommitted: true })).toEqual([committing, done].sort());
    expect(await counted({ unknownOnlyCommitted: true })).toEqual([committing, done].sort());
    expect(await counted({})).toEqual([waiting, committing, done, undone].sort());
  });

  test('have what their last dry run measured before the change was opened', async () => {
    const b = bench();
    const other = await b.open();
    const staged = (factKey: string, measured: JsonValue) =>
      b.committer.append(other, [{ kind: 'staged', at: minute(0), factKey, body: { measured } }]);
    await staged('a', { rows: 3, deletions: 2 });
    await staged('b', null);
    const own = await b.open();
    await staged('c', { rows: 0, deletions: 0 });
    expect(await b.openedBefore(own)).toMatchObject([{ changeId: other, staged: { rows: 3, deletions: 2 } }]);
  });

  test('include every tenant if none is given', async () => {
    const a = bench();
    const b = new Bench(a.ledger, a.committer);
    const [other, own] = [await a.open(), await b.open()];
    expect(await b.before(NEW)).toEqual([own]);
    expect((await b.before(NEW, { tenant: null })).slice(0, 2)).toEqual([own, other]);
  });

  test('were opened inside the time window', async () => {
    const b = bench();
    const [, edge, young] = [await b.open({ at: minute(-61) }), await b.open({ at: minute(-60) }), await b.open()];
    expect(await b.before(NEW)).toEqual([young]);
    expect(await b.before(NEW, { since: minute(-60.5) })).toEqual([young, edge]);
  });

  test('have the end state of the committer’s row, and are omitted if they ended with an excepted reason', async () => {
    const b = bench();
    const [open, done, declined, withdrawn] = [await b.open(), await b.open(), await b.open(), await b.open()];
    await b.end(done, 'COMMITTED', null);
    await b.end(declined, 'ROLLED_BACK', 'declined');
    await b.end(withdrawn, 'ROLLED_BACK', 'withdrawn');
    expect(await b.openedBefore(NEW, { except: ['withdrawn', 'superseded'] })).toEqual([
      { changeId: declined, measure: MEASURE, staged: null, state: 'ROLLED_BACK' },
      { changeId: done, measure: MEASURE, staged: null, state: 'COMMITTED' },
      { changeId: open, measure: MEASURE, staged: null, state: null },
    ]);
    expect(await b.before(NEW)).toContain(withdrawn);
  });

  test('are not omitted because of a closed projection, only because of the committer’s row', async () => {
    const b = bench();
    const open = await b.open();
    const note = { kind: 'refused', at: minute(1), factKey: 'x', body: {} } as const;
    await b.committer.append(open, [note], { state: 'ROLLED_BACK', reason: 'withdrawn', closedAt: minute(1) });
    expect(await b.before(NEW, { except: ['withdrawn'] })).toEqual([open]);
  });

  test('are those with a measure, regardless of text in their metadata', async () => {
    const b = bench();
    await b.open({ measure: null });
    await b.open({ measure: null, metadata: { note: '"measure":{"bytes":9' } });
    const odd = await b.open({ metadata: { note: 'a \u0000 and "quotes"' } });
    await b.open({ measure: null, metadata: { measure: { bytes: 9 } } });
    expect(await b.before(NEW)).toEqual([odd]);
  });
});

describe.each<[string, () => { bench: Bench; withAdvisoryLock: WithAdvisoryLock }]>([
  [
    'in PostgreSQL',
    () => {
      const db = database.open('cs_review');
      const ledger = createLedger(db);
      return { bench: new Bench(ledger, ledger), withAdvisoryLock: ledgerWithAdvisoryLock(db) };
    },
  ],
  [
    'in memory',
    () => {
      const bench = inMemory();
      return { bench, withAdvisoryLock: memoryWithAdvisoryLock(bench.ledger) };
    },
  ],
])('the advisory lock %s', (_name, make) => {
  test('lets each of twenty concurrent calls see the appends of all earlier ones', async () => {
    const { bench, withAdvisoryLock } = make();
    const seen = await Promise.all(
      Array.from({ length: 20 }, () =>
        withAdvisoryLock([exclusive(bench.tenant)], async (ledger) => {
          const all = { target: null, sourceTool: null, requester: null, since: minute(-60), except: [], limit: 100 };
          const { length } = await ledger.openedBefore({
            changeId: NEW,
            tenant: bench.tenant,
            unknownOnlyCommitted: true,
            ...all,
          });
          await bench.open({ ledger });
          return length;
        }),
      ),
    );
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i));
  });

  test('is released when the work throws', async () => {
    const { bench, withAdvisoryLock } = make();
    await expect(withAdvisoryLock([exclusive(bench.tenant)], () => Promise.reject(new Error('no')))).rejects.toThrow(
      'no',
    );
    expect(await withAdvisoryLock([exclusive(bench.tenant)], async () => 'next')).toBe('next');
  });
});

test('in PostgreSQL work that throws is rolled back, and another name does not wait', async () => {
  const db = database.open('cs_review');
  const bench = new Bench(createLedger(db), createLedger(db));
  const withAdvisoryLock = ledgerWithAdvisoryLock(db);
  await withAdvisoryLock([exclusive('other')], async () => {
    await expect(
      withAdvisoryLock([exclusive(bench.tenant)], async (ledger) => {
        await bench.open({ ledger });
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
  });
  expect(await bench.before(NEW)).toEqual([]);
});

test('in PostgreSQL waiting calls do not use connections, so others can still query during a burst', async () => {
  const db = database.open('cs_review');
  const withAdvisoryLock = ledgerWithAdvisoryLock(db);
  const calls = Array.from({ length: 20 }, () =>
    withAdvisoryLock([exclusive('burst')], async () => db.query('select 1')),
  );
  expect(await Promise.all(calls)).toHaveLength(20);
});

test('in PostgreSQL a shared lock waits for the exclusive one of another process, and two shared ones do not wait', async () => {
  const [one, two] = [database.open('cs_review'), database.open('cs_review')].map(ledgerWithAdvisoryLock);
  if (one === undefined || two === undefined) throw new Error('unreachable');
  const order: string[] = [];
  await one([shared('a'), exclusive('b')], async () => {
    await two([shared('a'), exclusive('c')], async () => void order.push('shared'));
    const waiting = two([shared('b')], async () => void order.push('after'));
    await eventually('the last call waits for the lock', async () => {
      const { rowCount } = await database.open('admin').query(WAITING_FOR_A_LOCK);
      return rowCount === 1;
    });
    order.push('end');
    return { waiting };
  }).then(({ waiting }) => waiting);
  expect(order).toEqual(['shared', 'end', 'after']);
});

test('in PostgreSQL calls for overlapping locks in different orders all end', async () => {
  const one = ledgerWithAdvisoryLock(database.open('cs_review'));
  const two = ledgerWithAdvisoryLock(database.open('cs_review'));
  const names = ['a', 'b', 'c', 'd'];
  const calls = Array.from({ length: 120 }, (_, i) => {
    const rotated = names.map((_name, k) => names[(i + k) % names.length] ?? '');
    const locks = rotated.map((name, k) => ((i * 7 + k * 3) % 4 === 0 ? exclusive(name) : shared(name)));
    return (i % 2 === 0 ? one : two)(locks, async () => i);
  });
  expect(await Promise.all(calls)).toEqual(calls.map((_call, i) => i));
});
