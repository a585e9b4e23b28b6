import { createHash } from 'node:crypto';
import type { GitRepository } from '../../dev/fixtures/git-repository';
import type { JsonApi } from '../../dev/fixtures/json-api';
import { query } from '../../dev/query';

/** The two targets in PostgreSQL. The others are a repository and an API (servers.ts). */
export const SHOPS = ['shop', 'shop2'] as const;

const SCHEMA = `
create table accounts (id int primary key, owner text not null, balance int not null);
create table orders (id int primary key, status text not null, version int not null default 1);
create table payroll (id int primary key, cents int not null);
create table gifts (id int primary key, cents int not null);
`;
const ROWS = `
insert into accounts select i, 'owner ' || i, 100 from generate_series(1, 30) i;
insert into orders select i, 'paid', 1 from generate_series(1, 30) i;
insert into payroll select i, 500000 from generate_series(1, 30) i;
insert into gifts select i, 100 from generate_series(1, 30) i;
`;
const TABLES = ['accounts', 'orders', 'payroll', 'gifts'] as const;

/** A value that only an attack writes. */
export const LOOT = 1_000_000;

/** Lets the roles of the dry run and of the commit use what an attack has created in the first shop. */
export const GRANTS = `grant select, insert, update, delete on all tables in schema public to stage_shop, commit_shop;
grant usage on all sequences in schema public to stage_shop, commit_shop`;

/** Creates the tables of a shop. */
export async function seedShop(url: string): Promise<void> {
  await query(url, `${SCHEMA}${ROWS}`);
}

/** Gives the tables of a shop their first rows again. */
export async function reseedShop(url: string): Promise<void> {
  await query(url, `set lock_timeout = '10s'; truncate ${TABLES.join(', ')}; ${ROWS}`);
}

const tables = TABLES.map((table) => `(select json_agg(t order by id) from ${table} t)`).join(', ');
const markers = '(select json_agg(m order by change_id) from countersign.marker m where effect is not null)';

/** Queries a shop as superuser. */
type Ask = (text: string, shop: string) => Promise<unknown>;

/**
 * Every row of both shops and every effect in a marker, every branch of the repository and every write to the API: equal if and only if
 * no target was changed.
 */
export async function targetsDigest(
  ask: Ask,
  repository: Pick<GitRepository, 'git'>,
  api: Pick<JsonApi, 'applied'>,
): Promise<string> {
  const shops = await digest(ask, `select json_build_array(${tables}, ${markers})::text as everything`);
  const branches = repository.git('for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads');
  return [shops, branches, ...api.applied].join('\n');
}

/** Digest of the rows of the tables of both shops. */
export function tablesDigest(ask: Ask): Promise<string> {
  return digest(ask, `select json_build_array(${tables})::text as everything`);
}

async function digest(ask: Ask, text: string): Promise<string> {
  const hash = createHash('sha256');
  for (const shop of SHOPS) hash.update(JSON.stringify(await ask(text, shop)));
  return hash.digest('hex');
}

export interface ShopObject {
  readonly name: string;
  /** The statement that removes it; null if the attack that makes it must undo it. */
  readonly removal: string | null;
}

/** What the schema of a shop contains, and the settings of roles. */
export const OBJECTS = `
select format('%s %s, row security %s, grants %s', relkind, relname, relrowsecurity,
              (select string_agg(a::text, ' ' order by a::text) from unnest(relacl) a)) as name,
       case relkind when 'r' then format('drop table if exists %I cascade', relname)
                    when 'v' then format('drop view if exists %I cascade', relname)
                    when 'S' then format('drop sequence if exists %I cascade', relname) end as removal
from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'm', 'p', 'S', 'f')
union all select format('function %s', oid::regprocedure), format('drop function if exists %s cascade', oid::regprocedure)
from pg_proc where pronamespace = 'public'::regnamespace
union all select format('type %s', t.oid::regtype), format('drop type if exists %s cascade', t.oid::regtype)
from pg_type t left join pg_class c on c.oid = t.typrelid
where t.typnamespace = 'public'::regnamespace and t.typelem = 0 and (c.oid is null or c.relkind = 'c')
union all select format('operator %s', oid::regoperator), null from pg_operator where oprnamespace = 'public'::regnamespace
union all select format('cast %s as %s', castsource::regtype, casttarget::regtype), null from pg_cast where oid >= 16384
union all select format('trigger %s on %s, %s', tgname, tgrelid::regclass, tgenabled), format('drop trigger if exists %I on %s', tgname, tgrelid::regclass)
from pg_trigger join pg_class c on c.oid = tgrelid where not tgisinternal and c.relnamespace = 'public'::regnamespace
union all select format('rule %s on %s', rulename, ev_class::regclass), format('drop rule if exists %I on %s', rulename, ev_class::regclass)
from pg_rewrite join pg_class c on c.oid = ev_class where rulename <> '_RETURN' and c.relnamespace = 'public'::regnamespace
union all select format('policy %s on %s', polname, polrelid::regclass), format('drop policy if exists %I on %s', polname, polrelid::regclass)
from pg_policy
union all select format('large object %s', oid), format('select lo_unlink(%s)', oid) from pg_largeobject_metadata
union all select format('settings of role %s: %s', setrole, setconfig), null from pg_db_role_setting
order by 1`;
