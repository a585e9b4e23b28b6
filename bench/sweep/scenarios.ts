import { Client as PgClient } from 'pg';
import type { SubmitInput } from '../../client/submission';

/** How many changes one sweep may make: each has a row of its own in each table. */
export const ROWS = 20_000;

/** What a review goes through apart from its faults. */
export const SCENARIOS = [
  /** Nothing fires: committed without a person. */
  'auto',
  /** One violation, confirmed. */
  'confirm',
  /** As `confirm`, with compare-and-set rows. */
  'cas',
  /** An answer to another fingerprint comes first, and is refused. */
  'refused_answer',
  'reject',
  'withdraw',
  /** Somebody else writes the row after it was shown. */
  'stale',
  /** The model refuses to answer. */
  'judge_down',
  /** The key of one of two answers is revoked before the commit: the committer refuses. */
  'revoked',
  /** A rule forbids it: nobody is asked. */
  'forbidden',
] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** How the review ends when nothing worse than its faults happens. */
export const EXPECTED: Readonly<Record<Scenario, 'COMMITTED' | 'ROLLED_BACK'>> = {
  auto: 'COMMITTED',
  confirm: 'COMMITTED',
  cas: 'COMMITTED',
  refused_answer: 'COMMITTED',
  reject: 'ROLLED_BACK',
  withdraw: 'ROLLED_BACK',
  stale: 'ROLLED_BACK',
  judge_down: 'COMMITTED',
  revoked: 'ROLLED_BACK',
  forbidden: 'ROLLED_BACK',
};

/** The table that a scenario writes is what the policy goes by. */
export const TABLES: Readonly<Record<Scenario, string>> = {
  auto: 'items',
  confirm: 'prices',
  cas: 'prices',
  refused_answer: 'prices',
  reject: 'prices',
  withdraw: 'prices',
  stale: 'prices',
  judge_down: 'prices',
  revoked: 'dues',
  forbidden: 'vault',
};

const START = 500;

/** A word that the sweep's judge cannot answer. */
export const UNANSWERABLE = 'judge_down';

/** Raises the row once by one: applied twice it would show. */
export function changeOf(scenario: Scenario, id: number, requestKey: string): SubmitInput {
  const table = TABLES[scenario];
  const common = { target: 'shop', requestKey, metadata: { table_name: table, affected_rows: 1 } };
  if (scenario === 'cas') {
    const set = { cents: START + 1, version: 2 };
    const rows = [{ table: `public.${table}`, key: { id }, expect: { version: 1 }, set }];
    return { ...common, sourceTool: 'SQLCAS', raw: JSON.stringify({ rows }) };
  }
  const word = scenario === 'judge_down' ? ` /* ${UNANSWERABLE} */` : '';
  return { ...common, sourceTool: 'SQLDryRun', raw: `update ${table} set cents = cents + 1 where id = ${id}${word}` };
}

export async function seedTarget(url: string): Promise<void> {
  const pg = new PgClient({ connectionString: url });
  await pg.connect();
  for (const table of new Set(Object.values(TABLES))) {
    await pg.query(`create table ${table} (id int primary key, cents int not null, version int not null)`);
    await pg.query(`insert into ${table} select i, ${START}, 1 from generate_series(1, ${ROWS}) i`);
    await pg.query(`analyze ${table}`);
  }
  await pg.end();
}

/** How often the change's row was raised. */
export const EFFECTS_SQL = (table: string): string =>
  `select id, cents - ${START} as effects from ${table} where id = any($1)`;

export const BUNDLE = `
version: 1
name: crash sweep
domain: sweep
provider: scripted
model: scripted-judge
targets:
  shop: { development: true, sourceTools: [SQLDryRun, SQLCAS] }
groups:
  dba: { members: [alice, bob] }
defaultGroup: dba
validators:
  - validator: { name: usual, level: confirm, policyVersion: '1', rules: [{ tableWhitelist: { name: usual, allowed: [items, vault] } }] }
  - validator: { name: dues, level: confirm, policyVersion: '1', rules: [{ tableWhitelist: { name: no_dues, allowed: [items, prices, vault] } }] }
  - validator: { name: vault, level: forbid, policyVersion: '1', rules: [{ tableWhitelist: { name: no_vault, allowed: [items, prices, dues] } }] }
  - judge: { model: scripted-judge, deadlineMs: 3000 }
`;
