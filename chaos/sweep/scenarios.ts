import type { SubmitInput } from '../../client/submission';
import { query } from '../../dev/query';
import { newFilePatch } from '../../dev/fixtures/git-repository';

/** The maximum number of changes in one sweep: each change has its own row in each table. */
export const ROWS = 20_000;

/** The course of a review apart from its faults. */
export const SCENARIOS = [
  /** Nothing fires: committed without an approval. */
  'auto',
  /** One violation, confirmed. */
  'confirm',
  /** As `confirm`, with compare-and-set rows. */
  'cas',
  /** An answer to another fingerprint is sent first and refused. */
  'refused_answer',
  'reject',
  'withdraw',
  /** Another client writes the row after its disclosure. */
  'stale',
  /** The model refuses to answer. */
  'judge_down',
  /** The key of one of two answers is revoked before the commit: the committer refuses. */
  'revoked',
  /** A rule forbids it, so no person is asked. */
  'forbidden',
] as const;
type SqlScenario = (typeof SCENARIOS)[number];

/** Targets that cannot write marker and effect in one transaction. All are confirmed; the `_stale` ones are overtaken as in `stale`. */
const OTHER_TARGETS = ['git', 'git_stale', 'http', 'http_stale'] as const;
export type Scenario = SqlScenario | (typeof OTHER_TARGETS)[number];

/** The table that a scenario writes; the policy decides by table. */
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

/** The table of a scenario; null for a target that is not SQL. */
export function tableOf(scenario: Scenario): string | null {
  return isSql(scenario) ? TABLES[scenario] : null;
}

function isSql(scenario: Scenario): scenario is SqlScenario {
  return scenario in TABLES;
}

const START = 500;

/** Each row has its own resource and its own file. */
export const START_DOCUMENT = { cents: START };
export const resourceOf = (apiUrl: string, row: number): string => `${apiUrl}/rows/${row}`;
export const fileOf = (row: number): string => `row-${row}.txt`;

/** The sweep's judge fails on a diff that contains this word. */
export const UNANSWERABLE = 'judge_down';

/** Addresses of the targets that are not SQL. */
interface TargetAddresses {
  readonly apiUrl: string;
  /** The commit at the tip of the branch. */
  readonly tip: string;
}

/** Increments the row by one, so that applying it twice is visible. In git it adds the row's file. */
export function changeOf(
  scenario: Scenario,
  id: number,
  requestKey: string,
  { apiUrl, tip }: TargetAddresses,
): SubmitInput {
  if (scenario === 'git' || scenario === 'git_stale') {
    const raw = newFilePatch(fileOf(id), `${id}`);
    return { target: 'repo', requestKey, sourceTool: 'GitPatch', raw, metadata: { base_commit: tip } };
  }
  if (!isSql(scenario)) {
    const body = { cents: START + 1 };
    const request = { method: 'PATCH', url: resourceOf(apiUrl, id), contentType: 'application/merge-patch+json', body };
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
  for (const table of new Set(Object.values(TABLES)))
    await query(
      url,
      `create table ${table} (id int primary key, cents int not null, version int not null);
       insert into ${table} select i, ${START}, 1 from generate_series(1, ${ROWS}) i;
       analyze ${table}`,
    );
}

/** Selects how often each row was incremented. */
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
