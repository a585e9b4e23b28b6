import { createHash } from 'node:crypto';
import { query } from '../../dev/query';

/** The two targets in PostgreSQL. */
export const SHOPS = ['shop', 'shop2'] as const;

const SCHEMA = `
create table accounts (id int primary key, owner text not null, balance int not null);
insert into accounts select i, 'owner ' || i, 100 from generate_series(1, 30) i;
create table orders (id int primary key, status text not null, version int not null default 1);
insert into orders select i, 'paid', 1 from generate_series(1, 30) i;
create table payroll (id int primary key, cents int not null);
insert into payroll select i, 500000 from generate_series(1, 30) i;
create table gifts (id int primary key, cents int not null);
insert into gifts select i, 100 from generate_series(1, 30) i;
`;
const TABLES = ['accounts', 'orders', 'payroll', 'gifts'] as const;

/** Creates the tables of a shop. */
export async function seedShop(url: string): Promise<void> {
  await query(url, SCHEMA);
}

/** Digest of every row of both shops and of every effect in a marker: equal if and only if nothing was changed. */
export async function shopDigest(ask: (text: string, shop: string) => Promise<unknown>): Promise<string> {
  const hash = createHash('sha256');
  const rows = TABLES.map((table) => `(select json_agg(t order by id) from ${table} t)`);
  const markers = '(select json_agg(m order by change_id) from countersign.marker m where effect is not null)';
  const all = `select json_build_array(${[...rows, markers].join(', ')})::text as everything`;
  for (const shop of SHOPS) hash.update(JSON.stringify(await ask(all, shop)));
  return hash.digest('hex');
}
