import { createBreakers, recordBreakerReset } from '../../../storage/breakers/breakers';
import type { Role } from '../../../storage/database/roles';
import { createLedger } from '../../../storage/ledger/ledger';
import { BREAKER_PARAMETERS } from '../../../policy/decide/breaker';
import { newKeyPair } from '../../../signing/keys';
import { useDatabase } from '../../support/postgres';

/** When the tests of this file begin: the database refuses times that are far from its clock. */
let AT: string;
beforeAll(() => void (AT = new Date().toISOString()));
/** No breaker lets a probe pass during a test, unless the test uses BRIEF. */
const PARAMETERS = { ...BREAKER_PARAMETERS, minSamples: 3, openMs: 3_600_000 };
const BRIEF = { ...PARAMETERS, openMs: 2_000 };
const ID = 'guardian.held';
const operator = newKeyPair();

const database = useDatabase();

let changes = 0;
let tenants = 0;
const nextChange = (): string => (++changes).toString(16).padStart(4, '0').padEnd(64, 'c');
const nextPair = () => ({ tenant: `tenant_${++tenants}`, sourceTool: 'SQLDryRun' });
type Pair = ReturnType<typeof nextPair>;

const store = (role: Role, parameters = PARAMETERS) =>
  createBreakers({ db: database.open(role), operators: [operator.publicKey], parameters });

/** Opens a change as the review worker and ends it as the committer. */
async function ended({ tenant, sourceTool }: Pair, samples: unknown): Promise<string> {
  const changeId = nextChange();
  const submission = { tenant, target: 'shop', sourceTool };
  const body = { inputSha: changeId, submission, requester: null };
  await createLedger(database.open('cs_review')).append(
    changeId,
    [{ kind: 'submitted', at: AT, body, factKey: 'submitted' }],
    { ...submission, inputSha: changeId, mode: 'enforced', openedAt: AT },
  );
  await createLedger(database.open('cs_commit')).append(
    changeId,
    [{ kind: 'closed', at: AT, body: { state: 'COMMITTED', samples } as never, factKey: 'closed' }],
    { state: 'COMMITTED', closedAt: AT },
  );
  return changeId;
}

async function opened(pair: Pair): Promise<string[]> {
  const bad: string[] = [];
  for (let i = 0; i < 3; i++) bad.unshift(await ended(pair, { [ID]: 'failure' }));
  return bad;
}

const resetBy = (pair: Pair, role: Role, key = operator, validatorId: string | null = null) =>
  recordBreakerReset(
    database.open(role),
    { ...pair, validatorId, reason: 'repaired', issuedAt: new Date().toISOString() },
    key,
  );

test('the sample of a review comes with its row `closed`, and bad samples block the next change with the changes that opened it', async () => {
  const pair = nextPair();
  expect(await store('cs_review').pass(pair, nextChange(), [ID])).toEqual([]);
  const bad = await opened(pair);
  expect(await store('cs_review').pass(pair, nextChange(), [ID])).toEqual([{ validatorId: ID, evidence: bad }]);
  expect(await store('cs_review').pass(pair, nextChange(), ['guardian.other'])).toEqual([]);
  expect(await store('cs_review').pass(nextPair(), nextChange(), [ID])).toEqual([]);
});

test('exactly one of many concurrent changes is the probe, its retry passes as well, and its sample closes the breaker', async () => {
  const pair = nextPair();
  await opened(pair);
  await new Promise((resolve) => setTimeout(resolve, BRIEF.openMs + 50));
  const ids = Array.from({ length: 8 }, nextChange);
  const results = await Promise.all(ids.map((id) => store('cs_review', BRIEF).pass(pair, id, [ID])));
  const passed = ids.filter((_, i) => results[i]?.length === 0);
  expect(passed).toHaveLength(1);
  expect(await store('cs_review', BRIEF).pass(pair, passed[0] ?? '', [ID])).toEqual([]);
  expect((await store('cs_reader', BRIEF).read(pair)).breakers).toMatchObject([
    { state: 'open', probe: { changeId: passed[0] } },
  ]);
});

test('only a reset that a trusted operator signed for this tenant and source tool closes a breaker', async () => {
  const pair = nextPair();
  await opened(pair);
  const blocked = () => store('cs_review').pass(pair, nextChange(), [ID]);
  await resetBy(pair, 'cs_operator', newKeyPair());
  expect(await blocked()).toHaveLength(1);
  const other = { ...pair, tenant: 'other' };
  await resetBy(other, 'cs_operator');
  const copy = `insert into breaker_rows (tenant, source_tool, kind, body) select $1, source_tool, kind, body from breaker_rows where tenant = 'other'`;
  await database.open('cs_operator').query(copy, [pair.tenant]);
  expect(await blocked()).toHaveLength(1);
  await resetBy(pair, 'cs_operator');
  expect(await blocked()).toEqual([]);
});

test('a role can append only its own kinds of rows, and none can change or date one', async () => {
  const allowed = { cs_review: ['probe'], cs_commit: ['sample', 'state'], cs_operator: ['reset'] };
  const insert = `insert into breaker_rows (tenant, source_tool, kind, change_id, body, seq, at) values ('t', 's', $1, $2, '{}', 1, '2020-01-01')`;
  for (const role of ['cs_review', 'cs_judge', 'cs_commit', 'cs_gateway', 'cs_operator', 'cs_reader'] as const)
    for (const kind of ['sample', 'probe', 'reset', 'state']) {
      const done = database.open(role).query(insert, [kind, nextChange()]);
      if ((allowed as Partial<Record<Role, string[]>>)[role]?.includes(kind)) await done;
      else await expect(done).rejects.toMatchObject({ code: '42501' });
    }
  const { rows } = await database
    .open('cs_reader')
    .query<{ old: boolean }>(
      `select at < now() - interval '1 hour' or seq = 1 as old from breaker_rows where tenant = 't'`,
    );
  expect(rows.map(({ old }) => old)).toEqual([false, false, false, false]);
  await expect(database.open('admin').query('delete from breaker_rows')).rejects.toMatchObject({ code: '23001' });
});

test('a row that cannot be read counts as open until all breakers are reset', async () => {
  const pair = nextPair();
  await ended(pair, { 'approved by alice': 'success' });
  const pass = () => store('cs_review').pass(pair, nextChange(), [ID]);
  expect(await pass()).toBe('unknown');
  await resetBy(pair, 'cs_operator', operator, ID);
  expect(await pass()).toBe('unknown');
  await resetBy(pair, 'cs_operator');
  expect(await pass()).toEqual([]);
});

test('a row `state` bounds what is read, and changes nothing', async () => {
  const pair = nextPair();
  const bad = await opened(pair);
  const insert = `insert into breaker_rows (tenant, source_tool, kind, change_id, body) select $1, $2, 'sample', lpad(to_hex(n), 4, '0') || repeat('d', 60), '{}' from generate_series(1, 300) n`;
  await database.open('cs_commit').query(insert, [pair.tenant, pair.sourceTool]);
  const before = await store('cs_reader').read(pair);
  await store('cs_commit').compact(pair);
  await store('cs_commit').compact(pair);
  const { rows } = await database
    .open('cs_reader')
    .query(`select from breaker_rows where tenant = $1 and kind = 'state'`, [pair.tenant]);
  expect(rows).toHaveLength(1);
  expect((await store('cs_reader').read(pair)).breakers).toEqual(before.breakers);
  expect(before.breakers).toMatchObject([{ state: 'open', evidence: bad }]);
});

test('more rows than are read count as open until all breakers are reset, and are read no more after it', async () => {
  const pair = nextPair();
  await opened(pair);
  const insert = `insert into breaker_rows (tenant, source_tool, kind, change_id, body) select $1, $2, 'probe', $3, '["a"]' from generate_series(1, 5001)`;
  await database.open('cs_review').query(insert, [pair.tenant, pair.sourceTool, nextChange()]);
  const pass = () => store('cs_review').pass(pair, nextChange(), [ID]);
  expect(await pass()).toBe('unknown');
  await store('cs_commit').compact(pair);
  expect(await pass()).toBe('unknown');
  await resetBy(pair, 'cs_operator');
  expect(await pass()).toEqual([]);
  await store('cs_commit').compact(pair);
  const { rows } = await database
    .open('cs_reader')
    .query(`select from breaker_rows where tenant = $1 and kind = 'state'`, [pair.tenant]);
  expect(rows).toHaveLength(1);
  expect(await pass()).toEqual([]);
});
