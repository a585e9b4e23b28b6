import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import { openedClient, query } from '../../dev/query';

/** Number of rows in the demo's shop. The rows are realistic and the same on every machine. */
const CUSTOMERS = 2_000;
const ORDERS = 3_000;

const SCHEMA = `
create table if not exists customers (
  id int primary key, name text not null, email text not null unique, city text not null,
  tier text not null check (tier in ('basic', 'silver', 'gold')), credit_cents int not null default 0, note text not null default '',
  created_at timestamptz not null
);
create table if not exists orders (
  id int primary key, customer_id int not null references customers, status text not null check (status in ('new', 'paid', 'shipped', 'refunded')),
  total_cents int not null, version int not null default 1, placed_at timestamptz not null
);
create table if not exists payments (
  id int primary key, order_id int not null references orders, amount_cents int not null, method text not null, state text not null,
  version int not null default 1
);`;

const FIRST = ['Ada', 'Bela', 'Chidi', 'Dunja', 'Emil', 'Farah', 'Goran', 'Hana', 'Ilse', 'Jonas', 'Keiko', 'Lior'];
const LAST = [
  'Novak',
  'Okafor',
  'Petrov',
  'Quist',
  'Rossi',
  'Sato',
  'Thorne',
  'Ueda',
  'Varga',
  'Weber',
  'Xu',
  'Yilmaz',
];
const CITIES = ['Vienna', 'Lagos', 'Osaka', 'Porto', 'Quito', 'Riga'];

/** A pseudo-random integer from 0 to n − 1 that depends only on the arguments. */
function pick(seed: string, i: number, n: number): number {
  return createHash('sha256').update(`${seed}:${i}`).digest().readUInt32BE(0) % n;
}

function choose<T>(items: readonly T[], seed: string, i: number): T {
  return items[pick(seed, i, items.length)] as T;
}

/** Creates missing tables and inserts rows into an empty shop. Idempotent. */
export async function seedShop(adminUrl: string): Promise<void> {
  const client = await openedClient(adminUrl);
  try {
    await client.query(SCHEMA);
    const { rows } = await client.query<{ n: string }>('select count(*) as n from payments');
    if (Number(rows[0]?.n) > 0) return;
    await client.query('begin');
    await insert(client, 'customers', range(CUSTOMERS, customer));
    await insert(client, 'orders', range(ORDERS, order));
    await insert(client, 'payments', range(ORDERS, payment));
    await client.query('commit');
  } finally {
    await client.end();
  }
}

function range<T>(n: number, make: (i: number) => T): T[] {
  return Array.from({ length: n }, (_, k) => make(k + 1));
}

function customer(i: number): Record<string, unknown> {
  const name = `${choose(FIRST, 'first', i)} ${choose(LAST, 'last', i)}`;
  const email = `${name.toLowerCase().replace(' ', '.')}.${i}@example.com`;
  const tier = (['basic', 'basic', 'basic', 'silver', 'silver', 'gold'] as const)[pick('tier', i, 6)];
  return {
    id: i,
    name,
    email,
    city: choose(CITIES, 'city', i),
    tier,
    credit_cents: pick('credit', i, 20) * 100,
    note: '',
    created_at: day('joined', i),
  };
}

function order(i: number): Record<string, unknown> {
  const status = (['new', 'paid', 'paid', 'shipped'] as const)[pick('status', i, 4)];
  return {
    id: i,
    customer_id: pick('customer', i, CUSTOMERS) + 1,
    status,
    total_cents: 990 + pick('total', i, 40_000),
    version: 1,
    placed_at: day('placed', i),
  };
}

function payment(i: number): Record<string, unknown> {
  return {
    id: i,
    order_id: i,
    amount_cents: 990 + pick('total', i, 40_000),
    method: choose(['card', 'transfer', 'voucher'], 'method', i),
    state: 'settled',
    version: 1,
  };
}

function day(seed: string, i: number): string {
  return new Date(Date.UTC(2026, pick(`${seed}-month`, i, 10), 1 + pick(`${seed}-day`, i, 28), 9)).toISOString();
}

async function insert(client: Client, table: string, rows: readonly Record<string, unknown>[]): Promise<void> {
  await client.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [
    JSON.stringify(rows),
  ]);
}

/** Reads the shop for the demo's output: single rows, and the checksum of a table. */
export class Shop {
  readonly #url: string;

  constructor(adminUrl: string) {
    this.#url = adminUrl;
  }

  query<R extends Record<string, unknown>>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return query<R>(this.#url, text, values);
  }

  /** SHA-256 over all rows in key order: equal if and only if no row of the table differs. */
  async checksum(table: 'customers' | 'orders' | 'payments'): Promise<string> {
    const rows = await this.query<{ row: string }>(`select t::text as row from ${table} t order by id`);
    return createHash('sha256')
      .update(rows.map((r) => r.row).join('\n'))
      .digest('hex');
  }
}
