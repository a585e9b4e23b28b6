import type { Client } from 'pg';
import { openedClient } from '../../../dev/query';
import type { Database, Queryable } from '../../../storage/database/database';
import { readPrecedents } from '../../../storage/inbox/precedents';
import { createInboxLists } from '../../../storage/inbox/review-list';
import { createCheckpointer } from '../../../storage/ledger/checkpoint';
import { inclusionReader } from '../../../storage/ledger/inclusion';
import { createLedger } from '../../../storage/ledger/ledger';
import { LedgerTail } from '../../../storage/ledger/tail';
import { noticeStore } from '../../../storage/notices/notices';
import { testKey } from '../../support/keys';
import { useDatabase } from '../../support/postgres';

/** Half of them wait for people, and half have ended: 24,000 rows of the ledger. */
const REVIEWS = 6_000;
/** Rows that one step of a statement may read of one table: fewer than there are open reviews, and more than a page with what its filter leaves out. */
const MAX_READ = 2_100;

const database = useDatabase();
let db: Database;
beforeAll(async () => {
  const filler = await openedClient(database.adminUrl);
  await fill(filler);
  // Of a small table the planner reads all rows although an index would do, which says nothing about a large one.
  await filler.query(`alter database ${database.name} set enable_seqscan = off`);
  await filler.end();
  db = database.open('admin');
}, 240_000);

/** With the rows from which the trigger derives what the inbox and notices search for. */
async function fill(tx: Pick<Client, 'query'>): Promise<void> {
  const id = `encode(sha256(('review ' || r)::bytea), 'hex')`;
  await tx.query(
    `insert into reviews (change_id, tenant, target, source_tool, input_sha, state, mode, pending, opened_at, updated_at, deadline_at, closed_at, summary)
     select ${id}, 'tenant ' || r % 10, 'target ' || r % 20, 'SQLDryRun', ${id}, case when r % 2 = 0 then 'INTERVENTION_REQUIRED' else 'COMMITTED' end,
            'enforced', 1, now() - r * interval '1 minute', now(), now() + r * interval '1 minute', case when r % 2 = 1 then now() end, 'change ' || r
     from generate_series(1, $1) r`,
    [REVIEWS],
  );
  const violation = `json_build_object('violationId', ${id}, 'validatorId', 'guardian.' || r % 5, 'need', 'human', 'group', 'dba')`;
  const rows: readonly [string, string, string][] = [
    ['submitted', `json_build_object('inputSha', ${id})`, 'true'],
    ['planned', `json_build_object('planHash', repeat('f', 64))`, 'true'],
    ['disclosed', `json_build_object('violations', json_build_array(${violation}))`, 'true'],
    [
      'answer_accepted',
      `json_build_object('violationId', ${id}, 'decision', 'confirm', 'person', 'alice')`,
      'r % 2 = 1',
    ],
    ['closed', `json_build_object('state', 'COMMITTED', 'reason', null)`, 'r % 2 = 1'],
  ];
  for (const [n, [kind, body, some]] of rows.entries())
    await tx.query(
      `insert into ledger (change_id, n, prev, hash, kind, at, actor, body, fact_key, input_sha)
       select ${id}, ${n}, repeat('0', 64), encode(sha256((r || '/${n}')::bytea), 'hex'), '${kind}',
              to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'test', ${body}::text, '${kind}/${kind}',
              case when '${kind}' = 'submitted' then ${id} end
       from generate_series(1, $1) r where ${some}`,
      [REVIEWS],
    );
  // As if notices were on, and all reviews had been looked at.
  await tx.query(`update notice_looks set look_at = 'infinity', ended = closed`);
  await tx.query('analyze');
}

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Explains each statement before it runs, and collects the rows that its scans read, by table. */
function explaining(): { readonly db: Database; readonly read: Map<string, number> } {
  const read = new Map<string, number>();
  const visit = (node: PlanNode): void => {
    const place = node['Relation Name'] ?? node['Index Name'];
    const rows =
      (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) *
      node['Actual Loops'];
    if (place !== undefined) read.set(place, Math.max(read.get(place) ?? 0, Math.round(rows)));
    for (const child of node.Plans ?? []) visit(child);
  };
  const over = (on: Queryable): Queryable['query'] => {
    return async (text, values, name) => {
      if (/^\s*(select|with|update)/i.test(text)) {
        const { rows } = await on.query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
          `explain (analyze, format json) ${text}`,
          values,
        );
        visit((rows[0] as { 'QUERY PLAN': readonly { Plan: PlanNode }[] })['QUERY PLAN'][0]!.Plan);
      }
      return on.query(text, values, name);
    };
  };
  return {
    read,
    db: {
      query: over(db),
      transaction: (work) => db.transaction((tx) => work({ query: over(tx) })),
      close: async () => {},
    },
  };
}

const anId = async (where: string): Promise<string> => {
  const { rows } = await db.query<{ change_id: string }>(`select change_id from reviews where ${where} limit 1`);
  return rows[0]?.change_id ?? '';
};
const viewer = { person: 'bob', tenants: null, groups: [{ planHash: 'f'.repeat(64), group: 'dba' }] };

const READS: readonly [string, (db: Database) => Promise<unknown>][] = [
  ['the first page of all reviews', (on) => createLedger(on).listReviews({ limit: 50 })],
  ['the first page of a state', (on) => createLedger(on).listReviews({ limit: 50, state: 'INTERVENTION_REQUIRED' })],
  [
    'the first page of a state that no review has',
    (on) => createLedger(on).listReviews({ limit: 50, state: 'COMMITTING' }),
  ],
  ['the first page of a tenant', (on) => createLedger(on).listReviews({ limit: 50, tenant: 'tenant 3' })],
  [
    'the first page of a target in a tenant',
    (on) => createLedger(on).listReviews({ limit: 50, tenant: 'tenant 3', target: 'target 3' }),
  ],
  ['reviews by the beginning of the id', (on) => createLedger(on).listReviews({ limit: 50, idPrefix: '12345678' })],
  [
    'a page in the middle',
    async (on) => {
      const id = await anId(`opened_at < now() - interval '${REVIEWS / 2} minutes'`);
      const { openedAt } = (await createLedger(db).review(id)) ?? { openedAt: '' };
      return createLedger(on).listReviews({ limit: 50, after: `${openedAt}~${id}` });
    },
  ],
  [
    'one review',
    async (on) => {
      const id = await anId('closed_at is not null');
      const ledger = createLedger(on);
      await ledger.review(id);
      await ledger.read(id);
      await ledger.readKinds(id, ['closed']);
      await ledger.refusalCounts(id);
      await ledger.spentNonces(id);
      await ledger.rejectedInputs({ inputSha: id, factsSha: null }, 'f'.repeat(64));
    },
  ],
  [
    'new rows for metrics',
    async (on) => {
      const tail = new LedgerTail({ db: on, kinds: ['closed'], now: Date.now });
      await tail.next();
      await tail.next();
    },
  ],
  [
    'notices',
    async (on) => {
      const store = noticeStore(on);
      expect(await store.looks(200)).toEqual([]);
      await store.dropEnded();
      await store.dueQueues(100, { apartMs: 300_000, except: [] });
    },
  ],
  ['the inbox, all', (on) => createInboxLists(on).page(viewer, { tab: 'all' })],
  ['the inbox, your turn', (on) => createInboxLists(on).page(viewer, { tab: 'turn' })],
  ['the groups for which a review waits', (on) => createInboxLists(on).waitingGroups()],
  ['precedents', (on) => readPrecedents(on, { tenant: 'tenant 3', rule: 'guardian.3', except: 'f'.repeat(64) })],
];

test.each(READS)('%s: reads a bounded number of rows, and no whole table', async (_, read) => {
  const explained = explaining();
  await read(explained.db);
  expect([...explained.read].filter(([, rows]) => rows > MAX_READ)).toEqual([]);
  expect(explained.read.size).toBeGreaterThan(0);
});

test('a checkpoint and a proof read the rows since the last checkpoint, and the proof no whole tree', async () => {
  const { checkpoint } = createCheckpointer({ db, key: testKey('committer', 'committer'), now: () => new Date() });
  while ((await checkpoint()) !== null);
  const id = await anId('closed_at is null');
  const explained = explaining();
  expect(await inclusionReader(explained.db).covering(id, 3)).not.toBeNull();
  expect([...explained.read].filter(([, rows]) => rows > MAX_READ)).toEqual([]);
});
