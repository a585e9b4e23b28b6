import { Client as PgClient } from 'pg';
import type { SubmitInput } from '../../client/submission';
import { fileOf } from './repository';

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
type SqlScenario = (typeof SCENARIOS)[number];

/** Targets that cannot put marker and effect into one transaction; confirmed, and some of them overtaken as `stale` is. */
export const OTHER_TARGETS = ['git', 'git_stale', 'http', 'http_stale'] as const;
export type Scenario = SqlScenario | (typeof OTHER_TARGETS)[number];

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
  git: 'COMMITTED',
  git_stale: 'ROLLED_BACK',
  http: 'COMMITTED',
  http_stale: 'ROLLED_BACK',
};

/** The table that a scenario writes is what the policy goes by. */
export const TABLES: Readonly<Record<SqlScenario, string>> = {
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

/** Its table; null for another target. */
export function tableOf(scenario: Scenario): string | null {
  return isSql(scenario) ? TABLES[scenario] : null;
}

function isSql(scenario: Scenario): scenario is SqlScenario {
  return scenario in TABLES;
}

const START = 500;

/** A word that the sweep's judge cannot answer. */
export const UNANSWERABLE = 'judge_down';

/** What a change of another target than SQL goes by. */
export interface Places {
  readonly apiUrl: string;
  /** The branch's commit. */
  readonly tip: string;
}

/** Raises the row once by one: applied twice it would show. In git it adds the row's file. */
export function changeOf(scenario: Scenario, id: number, requestKey: string, { apiUrl, tip }: Places): SubmitInput {
  if (scenario === 'git' || scenario === 'git_stale') {
    const file = fileOf(id);
    const raw = `diff --git a/${file} b/${file}\nnew file mode 100644\n--- /dev/null\n+++ b/${file}\n@@ -0,0 +1 @@\n+${id}\n`;
    return { target: 'repo', requestKey, sourceTool: 'GitPatch', raw, metadata: { base_commit: tip } };
  }
  if (!isSql(scenario)) {
    const body = { cents: START + 1 };
    const request = { method: 'PATCH', url: `${apiUrl}/${id}`, contentType: 'application/merge-patch+json', body };
    return { target: 'api', requestKey, sourceTool: 'HTTPPatch', raw: JSON.stringify(request), metadata: {} };
  }
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
  repo: { development: true, sourceTools: [GitPatch] }
  api: { development: true, sourceTools: [HTTPPatch], staging: { timeoutMs: 1000 } }
groups:
  dba: { members: [alice, bob] }
defaultGroup: dba
validators:
  - validator: { name: usual, level: confirm, policyVersion: '1', rules: [{ tableWhitelist: { name: usual, allowed: [items, vault] } }] }
  - validator: { name: dues, level: confirm, policyVersion: '1', rules: [{ tableWhitelist: { name: no_dues, allowed: [items, prices, vault] } }] }
  - validator: { name: vault, level: forbid, policyVersion: '1', rules: [{ tableWhitelist: { name: no_vault, allowed: [items, prices, dues] } }] }
  - judge: { model: scripted-judge, deadlineMs: 3000 }
`;
