/** Changes whose dry run harms others, or shows something else than what commits. Each runs on the real PostgreSQL of the target. */
import { setTimeout as pause } from 'node:timers/promises';
import { ifRefused } from '../if-refused';
import { readFileSync } from 'node:fs';
import type { Client } from 'pg';
import { openedClient } from '../../../dev/query';
import { confirmByBoth, type Attack, type Attempt } from '../attack';
import { GRANTS, LOOT } from '../shop';
import type { Row, Testbed } from '../testbed';

/** True in the transaction of the commit, false in the dry run. */
const IN_COMMIT = `has_schema_privilege('countersign', 'usage')`;
const NOISE = '100 + floor(random() * 10)::int';

interface Probe {
  readonly sql: string | (() => string);
  /** Words of the reason for which the dry run is refused. */
  readonly by: string;
  /** Objects of the shop that exist before the change is submitted. */
  readonly setup?: string;
  /** Removes objects of `setup` with which no later change could be rehearsed. */
  readonly cleanup?: string;
  /** What happens between the dry run and the approval. */
  readonly meanwhile?: string;
  /** Runs while the change is staged: what other sessions saw, or null. */
  readonly watch?: (testbed: Testbed, staged: () => boolean) => Promise<string | null>;
  /** A query that returns rows if the attack succeeded. */
  readonly loot?: string;
}

/** The dry run was refused for this reason: it executed nothing, or it was stopped. */
const notRehearsed =
  (by: string) =>
  ({ kind, body }: Row): boolean => {
    if (kind !== 'staged') return false;
    if (body['rejected'] === true) return String(body['explanation']).includes(by);
    const { reason, uncaptured } = body['record'] as {
      readonly reason: unknown;
      readonly uncaptured: readonly string[];
    };
    return reason === 'not_rehearsed' && uncaptured.some((text) => text.includes(by));
  };

/** Alice confirms what the dry run captured fully, and nothing else. */
async function attack(testbed: Testbed, probe: Probe): Promise<Attempt> {
  if (probe.setup !== undefined) await testbed.target(probe.setup);
  await testbed.target(`${GRANTS}; update orders set version = 1 where version >= ${LOOT}`);
  await testbed.baseline();
  const raw = typeof probe.sql === 'string' ? probe.sql : probe.sql();
  const table = /(?:update|into) (\w+)/.exec(raw)?.[1];
  const metadata = table === undefined ? {} : { table_name: table, affected_rows: 1, cents: 100 };
  const changeId = await testbed.submit({ sourceTool: 'SQLDryRun', raw, metadata });
  let over = false;
  const watching = probe.watch?.(testbed, () => over) ?? Promise.resolve(null);
  const staged = await testbed.waitForRow(changeId, ({ kind }) => kind === 'staged' || kind === 'closed');
  await pause(300);
  if (probe.meanwhile !== undefined) {
    await testbed.target(probe.meanwhile);
    await testbed.baseline();
  }
  const record = (staged?.body['record'] ?? {}) as { fullyCaptured?: boolean };
  if (record.fullyCaptured === true) await confirmAndEnd(testbed, changeId);
  over = true;
  const seen = await watching;
  const taken = await testbed.target(probe.loot ?? `select * from orders where version >= ${LOOT}`);
  if (probe.cleanup !== undefined) await testbed.target(probe.cleanup);
  const why = staged === null ? 'the dry run does not end' : null;
  const achieved = seen ?? why ?? (taken.length > 0 ? `committed: ${JSON.stringify(taken[0])}` : null);
  return { changeId, refusal: notRehearsed(probe.by), achieved };
}

async function confirmAndEnd(testbed: Testbed, changeId: string): Promise<void> {
  const status = await ifRefused(testbed.waiting(changeId), ['The review'], null); // it ended without a question
  if (status !== null) await confirmByBoth(testbed, status);
  await testbed.waitForRow(changeId, ({ kind }) => kind === 'closed');
}

/** Counts reads or writes of another session that fail within 200 ms because of a lock. */
const blocked =
  (sql: string) =>
  async (testbed: Testbed, staged: () => boolean): Promise<string | null> => {
    const client = await session(testbed);
    let [failed, all] = [0, 0];
    await client.query(`set lock_timeout = '200ms'`);
    while (!staged()) {
      all++;
      await client.query(sql).catch(() => failed++);
      await pause(20);
    }
    await client.end();
    return failed === 0 ? null : `${failed} of ${all} statements of another session timed out`;
  };

/** Looks for rows of a query while the change is staged. */
const visible =
  (sql: string) =>
  async (testbed: Testbed, staged: () => boolean): Promise<string | null> => {
    const client = await session(testbed);
    let seen = 0;
    while (!staged()) {
      seen += (await client.query(sql)).rowCount ?? 0;
      await pause(10);
    }
    await client.end();
    return seen === 0 ? null : `another session saw it ${seen} times`;
  };

const session = (testbed: Testbed, url = testbed.dev.setup.targetAdminUrls['shop']): Promise<Client> =>
  openedClient(url ?? '');

/** A session of the role of the dry run that is terminated. */
async function victim(testbed: Testbed, staged: () => boolean): Promise<string | null> {
  const url = /"stageUrl":\s*"([^"]+)"/.exec(readFileSync(testbed.dev.setup.targetsFile, 'utf8'))?.[1];
  const client = await session(testbed, url);
  while (!staged()) await pause(20);
  const alive = await client.query('select 1').then(
    () => true,
    () => false,
  );
  await client.end().catch(() => undefined); // terminated
  return alive ? null : 'a session of the same role was terminated';
}

/** A notification that is delivered although no one approved it. */
async function listener(testbed: Testbed, staged: () => boolean): Promise<string | null> {
  const client = await session(testbed);
  let received = 0;
  client.on('notification', () => received++);
  await client.query('listen shop_events');
  while (!staged()) await pause(20);
  for (let i = 0; i < 50 && received === 0; i++) await client.query('select 1').then(() => pause(20));
  await client.end();
  return received === 0 ? null : 'a notification was delivered without an approval';
}

/** Another session holds the lock on a row: the dry run must end before. */
async function holdRow(testbed: Testbed, staged: () => boolean): Promise<string | null> {
  const client = await session(testbed);
  await client.query('begin; update accounts set balance = balance where id = 12');
  while (!staged()) await pause(50);
  await client.query('rollback');
  await client.end();
  return null;
}

const LARGE = `create table if not exists large (id int primary key, n int not null);
insert into large select i, 0 from generate_series(1, 400000) i on conflict do nothing; analyze large`;
const TICKETS = `create table if not exists tickets (id bigserial primary key, title text)`;
const ADVISORY = `select 1 from pg_locks where locktype = 'advisory' and objid = 4242`;
const SLOW = 'select count(*) from generate_series(1, 2000000)';

const PROBES: Readonly<Record<string, Probe>> = {
  'a value that depends on a privilege of the commit role': {
    by: 'has_schema_privilege() is not on the list',
    sql: `update orders set version = case when ${IN_COMMIT} then ${LOOT} else ${NOISE} end where id = 1`,
  },
  'a value that depends on the name of the session': {
    by: 'current_setting() is not on the list',
    sql: `update orders set version = case when current_setting('application_name') like '%commit%' then ${LOOT} else ${NOISE} end where id = 2`,
  },
  'a value that depends on the sessions of the server': {
    by: 'pg_stat_activity belongs to the system',
    sql: `update orders set version = (select count(*)::int from pg_stat_activity where application_name like '%commit%') * ${LOOT} + ${NOISE} where id = 3`,
  },
  'a value that depends on the role': {
    by: 'CURRENT_USER reads who runs the statement',
    sql: `update orders set version = case when current_user like 'commit%' then ${LOOT} else ${NOISE} end where id = 4`,
  },
  'the base of a random value moved after the approval': {
    by: 'random() is not on the list',
    sql: `update orders set version = (select cents from gifts where id = 1) + floor(random() * 10)::int where id = 5`,
    meanwhile: `update gifts set cents = ${LOOT} where id = 1`,
  },
  'a value that changes when its time has come': {
    by: 'clock_timestamp() moves during the dry run',
    sql: () =>
      `update orders set version = case when clock_timestamp() > '${new Date(Date.now() + 3_000).toISOString()}' then ${LOOT} else extract(microseconds from clock_timestamp())::int % 10 end where id = 6`,
    meanwhile: 'select pg_sleep(3)',
  },
  'a table lock and a sleep': {
    by: 'statement 1 (LOCK TABLE): only SELECT',
    sql: `lock table accounts in access exclusive mode; select pg_sleep(1); update accounts set balance = balance where id = 7`,
    watch: blocked('select 1 from accounts where id = 8'),
  },
  'a sleep between two updates': {
    by: 'pg_sleep() is not on the list',
    sql: `update accounts set balance = balance + 0 where id = 9; select pg_sleep(1)`,
    watch: blocked('update accounts set balance = balance where id = 9'),
  },
  'an advisory lock': {
    by: 'pg_advisory_xact_lock() is not on the list',
    sql: `select pg_advisory_xact_lock(4242); ${SLOW}`,
    watch: visible(ADVISORY),
  },
  'other dry runs terminated': {
    by: 'CURRENT_USER reads who runs the statement',
    sql: `select pg_terminate_backend(pid) from pg_stat_activity where usename = current_user and pid <> pg_backend_pid()`,
    watch: victim,
  },
  'a notification without a finding': {
    by: 'pg_notify() is not on the list',
    sql: `update accounts set balance = balance + 0 where id = 10; select pg_notify('shop_events', 'refund all')`,
    watch: listener,
  },
  'sequence values by nextval': {
    by: 'nextval() is not on the list',
    setup: TICKETS,
    sql: `select count(nextval('tickets_id_seq')) from generate_series(1, 200000)`,
    loot: 'select last_value from tickets_id_seq where last_value > 50000',
  },
  'sequence values by a default': {
    by: 'it changes more than 10000 rows',
    setup: `${TICKETS}; alter sequence tickets_id_seq restart`,
    sql: `insert into tickets (title) select 'x' from generate_series(1, 200000)`,
    loot: 'select last_value from tickets_id_seq where last_value > 50000',
  },
  'sequence values by an insert whose size the planner underestimates': {
    by: 'generate_series() returns a number of rows that is not written in the statement',
    setup: `${TICKETS}; alter sequence tickets_id_seq restart`,
    sql: `insert into tickets (title) select 'x' from generate_series(1, (select 200000))`,
    loot: 'select last_value from tickets_id_seq where last_value > 50000',
  },
  'a trigger that knows the commit': {
    by: 'has_schema_privilege() is not on the list',
    setup: `create table if not exists prices (id int primary key, cents int not null); insert into prices values (1, 100) on conflict do nothing;
      create or replace function price() returns trigger language plpgsql as $$ begin if ${IN_COMMIT} then new.cents := ${LOOT}; else new.cents := ${NOISE}; end if; return new; end $$;
      create or replace trigger price before update on prices for each row execute function price()`,
    sql: 'update prices set cents = 101 where id = 1',
    loot: `select * from prices where cents = ${LOOT}`,
  },
  'a default that knows the commit': {
    by: 'the function has_schema_privilege() is not on the list',
    setup: `create table if not exists bonus (id int primary key, cents int default case when ${IN_COMMIT} then ${LOOT} else ${NOISE} end)`,
    sql: 'insert into bonus (id) values (1)',
    loot: `select * from bonus where cents = ${LOOT}`,
  },
  'a view that knows the commit': {
    by: 'the function has_schema_privilege() is not on the list',
    setup: `create or replace view rate as select case when ${IN_COMMIT} then ${LOOT} else ${NOISE} end as cents`,
    sql: 'update orders set version = (select cents from rate) where id = 11',
  },
  'a generated column that knows the commit': {
    by: 'has_schema_privilege() is not on the list',
    setup: `create or replace function fee(int) returns int language plpgsql immutable as $$ begin return case when ${IN_COMMIT} then ${LOOT} else ${NOISE} end; end $$;
      create table if not exists fees (id int primary key, base int, cents int generated always as (fee(base)) stored);
      insert into fees values (1, 1) on conflict do nothing`,
    sql: 'update fees set base = 2 where id = 1',
    loot: `select * from fees where cents = ${LOOT} and base = 2`,
  },
  'the check of a domain that takes a lock': {
    by: 'pg_advisory_xact_lock() is not on the list',
    setup: `create or replace function checked(text) returns boolean language plpgsql as $$ begin perform pg_advisory_xact_lock(4242); perform pg_sleep(0.5); return true; end $$;
      do $$ begin create domain label as text check (checked(value)); exception when duplicate_object then null; end $$;
      create table if not exists labels (id int primary key, name label)`,
    sql: `insert into labels values (1, 'x')`,
    watch: visible(ADVISORY),
  },
  'a constant cast to a domain whose check takes a lock': {
    by: 'pg_advisory_xact_lock() is not on the list',
    setup: `create or replace function checked(text) returns boolean language plpgsql as $$ begin perform pg_advisory_xact_lock(4242); perform pg_sleep(0.5); return true; end $$;
      do $$ begin create domain label as text check (checked(value)); exception when duplicate_object then null; end $$`,
    sql: `select 'x'::label`,
    watch: visible(ADVISORY),
  },
  'a function of the shop that hides a built-in one': {
    by: 'lower() may mean public.lower()',
    setup: `create or replace function public.lower(varchar) returns int language plpgsql as $$ begin return case when ${IN_COMMIT} then ${LOOT} else ${NOISE} end; end $$`,
    sql: `update orders set version = lower(status::varchar) where id = 12`,
    cleanup: 'drop function public.lower(varchar)',
  },
  'an operator of the shop that hides a built-in one': {
    by: 'the operator + of schema public is implemented by a function',
    setup: `create or replace function public.plus(int, text) returns int language plpgsql as $$ begin return case when ${IN_COMMIT} then ${LOOT} else ${NOISE} end; end $$;
      do $$ begin create operator public.+ (leftarg = int, rightarg = text, function = public.plus); exception when duplicate_function then null; end $$`,
    sql: `update orders set version = version + status where id = 13`,
    cleanup: 'drop function public.plus(int, text) cascade',
  },
  'an implicit cast that knows the commit': {
    by: 'has_schema_privilege() is not on the list',
    setup: `do $$ begin create type euro as (n int); exception when duplicate_object then null; end $$;
      create or replace function public.cents(euro) returns int language plpgsql as $$ begin return case when ${IN_COMMIT} then ${LOOT} else ${NOISE} end; end $$;
      do $$ begin create cast (euro as int) with function public.cents(euro) as assignment; exception when duplicate_object then null; end $$`,
    sql: `update orders set version = row(1)::euro where id = 14`,
    cleanup: 'drop type euro cascade',
  },
  'an update of a whole large table': {
    by: 'it changes more than 10000 rows',
    setup: LARGE,
    sql: 'update large set n = n + 1 where n >= 0',
    watch: blocked('update large set n = n where id = 1'),
  },
  'an update whose size the planner underestimates': {
    by: 'it changes more than 10000 rows',
    setup: LARGE,
    sql: `update large set n = n + 1 where (id % 2 = 0 or id % 2 = 1) and id % 1 = 0 and left(id::text, 0) = '' and length(id::text) = char_length(id::text)`,
    watch: blocked('update large set n = n where id = 1'),
  },
  'row locks on a whole large table': {
    by: 'row locks need a LIMIT',
    setup: LARGE,
    sql: `select count(*) from (select 1 from large for update) q; ${SLOW}`,
    watch: blocked('update large set n = n where id = 1'),
  },
  'a large object': {
    by: 'lo_from_bytea() is not on the list',
    sql: `update accounts set balance = balance + 0 where id = 15; select lo_from_bytea(424242, 'x')`,
    loot: 'select oid from pg_largeobject_metadata where oid = 424242',
  },
  'a DO block that sleeps': {
    by: 'statement 1 (DO): only SELECT',
    sql: `do $$ begin update accounts set balance = balance + 0 where id = 16; perform pg_sleep(1); end $$`,
    watch: blocked('update accounts set balance = balance where id = 16'),
  },
  'a dry run that waits for a lock': {
    by: 'another session has locked the rows',
    sql: `update accounts set balance = balance + 1 where id = 12`,
    watch: holdRow,
  },
};

export const DRY_RUN: readonly Attack[] = Object.entries(PROBES).map(([name, probe]) => ({
  name: `dry run: ${name}`,
  run: (testbed) => attack(testbed, probe),
}));
