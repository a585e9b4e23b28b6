/** Changes whose effect is larger than, or another than, what the rules read and the dry run shows. */
import { setTimeout as pause } from 'node:timers/promises';
import { startLoopbackServer } from '../../../../dev/fixtures/loopback-server';
import { confirmByBoth, heldBy, topUp, withoutRow, type Attack, type Attempt } from '../../attack';
import { GRANTS, LOOT } from '../../shop';
import { WAIT_MS, type Change, type Testbed } from '../../testbed';

interface Probe {
  readonly setup: string;
  readonly sql: string;
  /** A query that returns rows if the hidden effect happened. */
  readonly loot: string;
  /** The name of what is hidden; if the dry run shows it, a person decides with open eyes. */
  readonly hidden: string;
  readonly undo: string;
}

interface Ending {
  readonly asked: boolean;
  readonly captured: boolean;
  readonly record: string;
  readonly reason: unknown;
}

/** Waits for the end of a change. Alice and bob confirm what the dry run captured fully. */
async function end(testbed: Testbed, changeId: string, careless = false): Promise<Ending> {
  let asked = false;
  for (const until = Date.now() + WAIT_MS; Date.now() < until; await pause(100)) {
    const rows = await testbed.rows(changeId);
    const staged = rows.find(({ kind }) => kind === 'staged')?.body ?? {};
    const captured = (staged['record'] as { fullyCaptured?: unknown } | undefined)?.fullyCaptured === true;
    const closed = rows.find(({ kind }) => kind === 'closed');
    const seen = { captured, record: JSON.stringify(staged), asked };
    if (closed !== undefined) return { ...seen, reason: closed.body['reason'] ?? closed.body['state'] };
    if (asked || !rows.some(({ kind }) => kind === 'disclosed')) continue;
    asked = true;
    if (!captured && !careless) return { ...seen, asked, reason: 'held: not fully captured' };
    await confirmByBoth(testbed, await testbed.waiting(changeId));
  }
  throw new Error(`${changeId} does not end`);
}

function hiddenEffect(name: string, probe: Probe): Attack {
  return {
    name: `second reader: ${name}`,
    async run(testbed) {
      await testbed.target(`${probe.setup}; ${GRANTS}`);
      await testbed.baseline();
      const metadata = { table_name: 'accounts', affected_rows: 1 };
      try {
        const changeId = await testbed.submit({ sourceTool: 'SQLDryRun', raw: probe.sql, metadata });
        const { asked, record, reason } = await end(testbed, changeId);
        const taken = await testbed.target(probe.loot);
        const shown = asked && record.includes(probe.hidden);
        const achieved =
          taken.length > 0 && !shown
            ? `${String(reason)}, ${asked ? 'asked, but the dry run does not show it' : 'no person was asked'}: ${taken.length} rows, ${JSON.stringify(taken[0])}`
            : null;
        const by = 'dry run: the effect is shown, or a person is asked';
        return withoutRow(changeId, by, achieved);
      } finally {
        await testbed.target(probe.undo);
        // Otherwise the catalogue still says that the table has triggers, rules or children.
        await testbed.target('vacuum accounts');
        await testbed.baseline();
      }
    },
  };
}

/** A change that people confirm leaves something in the committer's session; the next change must still have its effect. */
function leftBehind(name: string, sql: string): Attack {
  return {
    name: `second reader: left in the session: ${name}`,
    async run(testbed) {
      const changeId = await testbed.submit({
        sourceTool: 'SQLDryRun',
        raw: sql,
        metadata: { table_name: 'accounts', affected_rows: 1 },
      });
      await end(testbed, changeId, true);
      const before = await testbed.target('select balance from accounts where id = 24');
      const next = await testbed.submit(topUp(24));
      const { asked, reason } = await end(testbed, next, true);
      const after = await testbed.target('select balance from accounts where id = 24');
      await testbed.baseline();
      const gained = Number(after[0]?.['balance']) - Number(before[0]?.['balance']);
      const achieved =
        gained === 1 ? null : `the next change: asked ${String(asked)}, ended ${String(reason)}, effect ${gained}`;
      const by = 'the next change has its own effect';
      return withoutRow(changeId, by, achieved);
    },
  };
}

/** Seven deletes at the same moment under a limit of five. */
async function atOnce(testbed: Testbed): Promise<Attempt> {
  await testbed.target(
    `insert into accounts select i, 'owner', 1 from generate_series(951, 957) i on conflict do nothing`,
  );
  const deletes = Array.from({ length: 7 }, (_, i) => ({
    ...topUp(1),
    raw: `delete from accounts where id = ${951 + i}`,
  }));
  const ids = await Promise.all(deletes.map((change) => testbed.submit(change)));
  // Each has been committed, or waits for a person.
  await Promise.all(ids.map((id) => heldBy(testbed, id)));
  const left = await testbed.target('select id from accounts where id between 951 and 957');
  await testbed.target('delete from accounts where id between 951 and 957');
  await testbed.baseline();
  const achieved = 7 - left.length > 5 ? `${7 - left.length} rows deleted, the limit is 5` : null;
  return withoutRow(ids[0] ?? '', 'guardian.deletes', achieved);
}

/** Requests whose path leads to another server if it is joined to the base address carelessly. */
async function otherServer(testbed: Testbed): Promise<Attempt> {
  const hits: string[] = [];
  const server = await startLoopbackServer((request, response) => {
    hits.push(`${request.method ?? ''} ${request.url ?? ''}`);
    response.writeHead(200, { 'content-type': 'application/json', etag: '"1"' }).end('{}');
  });
  const away = new URL(server.url).host;
  let last = '';
  for (const url of [
    `//${away}/x`,
    `http://${away}/x`,
    `/\\${away}/x`,
    `@${away}/x`,
    `\\\\${away}\\x`,
    `/%2f${away}/x`,
    `/\t/${away}/x`,
  ]) {
    for (const member of ['path', 'url']) {
      const raw = JSON.stringify({ method: 'PATCH', [member]: url, headers: {}, body: { on: true } });
      const change: Change = { target: 'api', sourceTool: 'HTTPPatch', raw, metadata: {} };
      const changeId = await testbed.submit(change);
      last = changeId;
      await testbed.waitForRow(changeId, ({ kind }) => kind === 'closed' || kind === 'disclosed');
    }
  }
  await server.stop();
  // A path of our own server may be changed.
  await testbed.baseline();
  const achieved = hits.length > 0 ? `another server received ${hits.join(', ')}` : null;
  return withoutRow(last, 'the target is the configured server', achieved);
}

const OWNER = `insert into accounts values (961, 'owner', 1) on conflict do nothing`;
const kids = (action: string): string =>
  `${OWNER}; create table if not exists kids (id int primary key, account int references accounts (id) ${action});
  insert into kids select i, 961 from generate_series(1, 500) i`;
const LATER = `create or replace function later() returns trigger language plpgsql as $$ begin update orders set version = ${LOOT}; return null; end $$`;
const REFUNDED = `select * from orders where version = ${LOOT}`;
const UNREFUND = `update orders set version = 1 where version = ${LOOT}`;

export const SECOND_READER_EFFECTS: readonly Attack[] = [
  hiddenEffect('a delete that cascades to another table', {
    setup: kids('on delete cascade'),
    sql: 'delete from accounts where id = 961',
    loot: 'select 1 where not exists (select from kids)',
    hidden: 'public.kids',
    undo: 'drop table kids; delete from accounts where id = 961',
  }),
  hiddenEffect('an update of a key that cascades to another table', {
    setup: kids('on update cascade'),
    sql: 'update accounts set id = 962 where id = 961',
    loot: 'select 1 from kids where account = 962',
    hidden: 'public.kids',
    undo: 'drop table kids; delete from accounts where id in (961, 962)',
  }),
  hiddenEffect('a constraint trigger that is deferred to the commit', {
    setup: `${LATER}; create constraint trigger later after update on accounts deferrable initially deferred for each row execute function later()`,
    sql: 'update accounts set balance = balance + 0 where id = 25',
    loot: REFUNDED,
    hidden: 'public.orders',
    undo: `drop trigger later on accounts; ${UNREFUND}`,
  }),
  hiddenEffect('a trigger of each statement', {
    setup: `${LATER}; create or replace trigger later after update on accounts for each statement execute function later()`,
    sql: 'update accounts set balance = balance + 0 where id = 25',
    loot: REFUNDED,
    hidden: 'public.orders',
    undo: `drop trigger later on accounts; ${UNREFUND}`,
  }),
  hiddenEffect('a rule that also writes another table', {
    setup: `create or replace rule later as on update to accounts do also update orders set version = ${LOOT}`,
    sql: 'update accounts set balance = balance + 0 where id = 25',
    loot: REFUNDED,
    hidden: 'public.orders',
    undo: `drop rule later on accounts; ${UNREFUND}`,
  }),
  hiddenEffect('a table that inherits', {
    setup: `create table if not exists archive (id int primary key, owner text not null, balance int not null) inherits (accounts);
      insert into archive select 26, 'owner', 1 from generate_series(1, 1)`,
    sql: `update accounts set balance = ${LOOT} where id = 26`,
    loot: `select * from archive where balance = ${LOOT}`,
    hidden: 'public.archive',
    undo: 'drop table archive; update accounts set balance = 100 where id = 26',
  }),
  hiddenEffect('rows that a policy of the table hides from the role of the dry run', {
    setup: `alter table accounts enable row level security;
      create policy staged on accounts to stage_shop using (id <> 28);
      create policy committed on accounts to commit_shop using (true)`,
    sql: `update accounts set balance = ${LOOT} where id in (27, 28)`,
    loot: `select * from accounts where id = 28 and balance = ${LOOT}`,
    hidden: '"updated":2',
    undo: `drop policy staged on accounts; drop policy committed on accounts; alter table accounts disable row level security;
      update accounts set balance = 100 where id in (27, 28)`,
  }),
  hiddenEffect('a trigger that the commit role has switched on', {
    setup: `${LATER}; create or replace trigger later after update on accounts for each row when (pg_trigger_depth() = 0) execute function later();
      alter table accounts disable trigger later; alter table accounts enable replica trigger later`,
    sql: 'update accounts set balance = balance + 0 where id = 25',
    loot: REFUNDED,
    hidden: 'public.orders',
    undo: `drop trigger later on accounts; ${UNREFUND}`,
  }),
  hiddenEffect('a value that counts the rehearsals by the place of the row', {
    setup: `create table if not exists places (id int primary key, n int); insert into places values (1, 0) on conflict do nothing`,
    sql: `update accounts set balance = case when (select (ctid::text::point)[1] + (ctid::text::point)[0] * 1000 from accounts a where a.id = 29) > (select 40) then ${LOOT} else balance end where id = 29`,
    loot: `select * from accounts where balance = ${LOOT}`,
    hidden: 'nothing',
    undo: `drop table places; update accounts set balance = 100 where balance = ${LOOT}`,
  }),
  hiddenEffect('a value that knows whether a transaction before touched the row (xmax)', {
    setup: 'update accounts set balance = 100 where id = 29',
    sql: `update accounts set balance = case when xmax::text <> '0' then ${LOOT} else 101 end where id = 29`,
    loot: `select * from accounts where balance = ${LOOT}`,
    hidden: 'nothing',
    undo: `update accounts set balance = 100 where id = 29`,
  }),
  leftBehind('a temporary table that hides accounts', 'create temp table accounts as select * from public.accounts'),
  leftBehind('a temporary view that hides accounts', 'create temp view accounts as select 24 as id, 1 as balance'),
  leftBehind('a search path', `select set_config('search_path', 'pg_catalog', false)`),
  leftBehind('transactions that only read', `set session characteristics as transaction read only`),
  leftBehind('triggers that are off', `set session_replication_role = replica`),
  leftBehind('an advisory lock', `select pg_advisory_lock(1), pg_advisory_lock_shared(hashtext('countersign'))`),
  leftBehind('a prepared statement and a cursor', `declare c cursor with hold for select * from accounts for update`),
  leftBehind('another role', `set session authorization default; set role none`),
  { name: 'second reader: seven deletes at once under a limit of five', run: atOnce },
  { name: 'second reader: requests whose path names another server', run: otherServer },
];
