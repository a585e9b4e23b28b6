import { setTimeout as pause } from 'node:timers/promises';
import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { remoteModules } from '../../cli/remote-modules';
import { query } from '../../dev/query';
import { createCheckpointer } from '../../storage/ledger/checkpoint';
import type { Env } from '../../workers/config';
import { runCommand, temporaryFolder, type CommandRun } from '../cli/run-command';
import { eventually } from '../support/eventually';
import { SHOP } from '../support/shop-bundle';
import { useSystem } from '../support/system';
import { commandEnv } from '../support/system-env';
import { update } from './scenarios';

const DAY_MS = 24 * 60 * 60_000;
const scratch = temporaryFolder();
const out = scratch.path('evidence');

const system = useSystem({ ...SHOP, name: 'archive' });
let env: Env;
beforeAll(() => void (env = commandEnv(system)));

/** A command two days after the reviews of this file. */
const later = (args: readonly string[]): Promise<CommandRun> =>
  runCommand(args, {
    host: { env, now: () => new Date(Date.now() + 2 * DAY_MS), sleep: pause, remote: remoteModules },
  });
const archive = (dir = out, ...more: readonly string[]): Promise<CommandRun> =>
  later(['archive', '--older-than', '1', '--out', dir, '--json', ...more]);
const archived = async (...more: readonly string[]): Promise<unknown> =>
  JSON.parse((await archive(out, ...more)).out) as unknown;
const historyIn = (changeId: string): unknown =>
  (JSON.parse(readFileSync(join(out, `${changeId}.json`), 'utf8')) as { history: unknown }).history;
const none = { archived: [], kept: [], deletedDiffs: 0, deletedHistories: 0 };

async function checkpoint(): Promise<void> {
  const { key } = system.setup.keys.committer;
  await createCheckpointer({ db: system.resources.commit.db, key, now: () => new Date() }).checkpoint();
}

/** Waits for the end in the ledger, and for Temporal, whose list lags behind. */
async function ended(changeId: string): Promise<string> {
  const { state } = await system.ended(changeId);
  const query = `WorkflowId = "${changeId}" and ExecutionStatus != "Running"`;
  const listed = async (): Promise<boolean> => (await system.temporal.workflow.count(query)).count > 0;
  await eventually('Temporal lists the end of the workflow', listed, { everyMs: 20 });
  return state;
}

async function committed(id: number): Promise<string> {
  const { changeId } = await system.submit(update(`update items set stock = stock + 1 where id = ${id}`, 'items', 1));
  expect(await ended(changeId)).toBe('COMMITTED');
  return changeId;
}

const diffs = async (): Promise<number> =>
  (await system.resources.commit.db.query<{ n: number }>('select count(*)::int as n from blobs')).rows[0]?.n ?? -1;
const runs = async (changeId: string): Promise<number> => {
  let found = 0;
  for await (const { workflowId } of system.temporal.workflow.list({ query: `WorkflowId = "${changeId}"` }))
    found += workflowId === changeId ? 1 : 0;
  return found;
};

/** A namespace without workflows. */
async function emptyNamespace(name: string): Promise<string> {
  const namespace = `${name}${system.suffix}`;
  const { workflowService } = system.temporal;
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('1 day') });
  // The server reads the list of namespaces from time to time.
  const says = async (): Promise<string> => {
    const request = { namespace, execution: { workflowId: 'absent' } };
    const failed = workflowService.describeWorkflowExecution(request).catch((error: Error) => error.message);
    return String(await failed);
  };
  await eventually('the namespace exists', async () => /workflow .*not found/i.test(await says()), { everyMs: 100 });
  return namespace;
}

let first: string;
let waiting: string;
let kept: string;

test('archive keeps reviews whose rows no checkpoint covers, and reviews that are not old enough', async () => {
  first = await committed(1);
  expect(JSON.parse((await later(['archive', '--older-than', '3', '--out', out, '--json'])).out)).toMatchObject({
    archived: [],
    kept: [],
  });
  const { code, out: text } = await archive();
  expect([code, JSON.parse(text)]).toEqual([
    14,
    {
      archived: [],
      kept: [{ changeId: first, problem: 'no checkpoint covers its rows yet' }],
      deletedDiffs: 0,
      deletedHistories: 0,
    },
  ]);
  expect([readdirSync(out), await diffs(), await runs(first)]).toEqual([[], 1, 1]);
});

test('archive writes verified evidence, then deletes the diff and the history; the ledger stays, and open reviews too', async () => {
  const { changeId } = await system.submit(update('update prices set cents = cents + 1 where id = 1', 'prices', 1));
  await system.waiting(changeId);
  waiting = changeId;
  await checkpoint();
  const { code, out: text, err } = await archive();
  expect([code, err]).toEqual([0, '']);
  expect(JSON.parse(text)).toEqual({ archived: [first], kept: [], deletedDiffs: 1, deletedHistories: 1 });
  expect(readdirSync(out)).toEqual([`${first}.json`]);
  expect([await diffs(), await runs(waiting)]).toEqual([1, 1]);

  const verified = await later(['verify', join(out, `${first}.json`), '--trust', system.setup.trustFile]);
  expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('verified COMMITTED') });
  expect(await later(['replay', join(out, `${first}.json`)])).toMatchObject({ code: 0 });
  expect(await later(['ledger', 'verify', first])).toMatchObject({ code: 0 });
  for (const args of [
    ['result', first],
    ['show', first],
    ['ledger', 'show', first],
  ])
    expect([args[0], await later(args)]).toEqual([args[0], expect.objectContaining({ code: 0 })]);
});

test('an export of an archived review says that the diff is missing', async () => {
  const path = scratch.path('again.json');
  const exported = await later(['export', first, '--bytes', '--out', path]);
  expect([exported.code, exported.err]).toEqual([0, expect.stringContaining('The diff of this review was archived')]);
  const verified = await later(['verify', path, '--trust', system.setup.trustFile]);
  expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('verified COMMITTED') });
});

test('a second run finds nothing more to do, and the same change can be submitted again', async () => {
  const leftover = `${'e'.repeat(64)}.json.0123456789ab.tmp`;
  writeFileSync(join(out, leftover), '{}');
  utimesSync(join(out, leftover), 0, 0);
  expect(await archived()).toEqual(none);
  expect(readdirSync(out)).not.toContain(leftover);
  const again = await committed(1);
  expect(again).not.toBe(first);
  expect(await diffs()).toBe(2);
  await checkpoint();
  expect(await archived()).toMatchObject({ archived: expect.arrayContaining([again]), kept: [], deletedDiffs: 1 });
});

test('a review whose diff an open review has too is archived, and its diff is kept until that one is archived as well', async () => {
  const same = update('update prices set cents = cents + 1 where id = 1', 'prices', 1);
  const { changeId } = await system.submit({ ...same, target: 'shop', requestKey: `${system.suffix}-again` });
  await system.waiting(changeId);
  await system.answer(changeId, 'bob', 'reject');
  await ended(changeId);
  await checkpoint();
  expect(await archived()).toEqual({ ...none, archived: [changeId], deletedHistories: 1 });
  expect(await diffs()).toBe(1);

  await system.answer(waiting, 'bob', 'reject');
  await ended(waiting);
  await checkpoint();
  expect(await archived()).toMatchObject({ archived: expect.arrayContaining([waiting]), kept: [], deletedDiffs: 1 });
  expect(await diffs()).toBe(0);
});

test('a review that is kept does not count in the limit, so later ones are archived', async () => {
  const [older, younger] = [await committed(4), await committed(5)];
  await checkpoint();
  writeFileSync(join(out, `${older}.json`), '{}');
  expect(await archived('--limit', '1')).toMatchObject({ archived: [younger], kept: [{ changeId: older }] });
  rmSync(join(out, `${older}.json`));
  expect(await archived()).toMatchObject({ archived: [older], kept: [] });
});

test('a history is deleted only if the evidence in the directory contains its digest', async () => {
  const changeId = await committed(6);
  await checkpoint();
  const path = join(out, `${changeId}.json`);
  const right = env;
  env = { ...env, TEMPORAL_NAMESPACE: 'absent' };
  const exported = await later(['export', changeId, '--bytes', '--out', path]);
  expect([exported.code, exported.err]).toEqual([0, expect.stringContaining('The history could not be read')]);
  rmSync(path);
  // A file without the digest is not even written.
  expect((await archive()).code).toBe(1);
  expect(readdirSync(out)).not.toContain(`${changeId}.json`);
  await later(['export', changeId, '--bytes', '--out', path]);
  env = right;
  expect(await archived()).toEqual({
    ...none,
    kept: [{ changeId, problem: expect.stringMatching(/does not contain the digest of the history/) }],
  });
  expect([await diffs(), await runs(changeId)]).toEqual([1, 1]);

  rmSync(path);
  expect(await archived()).toMatchObject({ archived: [changeId], kept: [], deletedHistories: 1 });
  expect(historyIn(changeId)).toMatchObject({ sha256: expect.any(String) });
});

test('a review whose workflow is still running is kept: its history is not complete', async () => {
  const changeId = await committed(8);
  await checkpoint();
  const right = env;
  const namespace = await emptyNamespace('running');
  env = { ...env, TEMPORAL_NAMESPACE: namespace };
  const { connection } = system.temporal;
  const elsewhere = new Client({ connection, namespace });
  const running = await elsewhere.workflow.start('unfinished', { workflowId: changeId, taskQueue: 'nobody' });
  expect(await archived()).toEqual({ ...none, kept: [{ changeId, problem: expect.stringMatching(/still running/) }] });
  expect(readdirSync(out)).not.toContain(`${changeId}.json`);
  await running.terminate();
  env = right;
  expect(await archived()).toMatchObject({ archived: [changeId], kept: [], deletedDiffs: 1, deletedHistories: 1 });
});

test('reviews that an earlier run archived do not count in the limit, and one without a history is archived without its digest', async () => {
  const change = update('update prices set cents = cents + 1 where id = 2', 'prices', 1);
  const open = (await system.submit(change)).changeId;
  await system.waiting(open);
  const same = await system.submit({ ...change, target: 'shop', requestKey: `${system.suffix}-same` });
  await system.waiting(same.changeId);
  await system.answer(same.changeId, 'bob', 'reject');
  await ended(same.changeId);
  await checkpoint();
  const right = env;
  env = { ...env, TEMPORAL_NAMESPACE: await emptyNamespace('empty') };
  expect(await archived('--limit', '1')).toEqual({ ...none, archived: [same.changeId] });
  expect(historyIn(same.changeId)).toBeNull();
  const younger = await committed(7);
  await checkpoint();
  expect(await archived('--limit', '1')).toEqual({ ...none, archived: [younger], deletedDiffs: 1 });
  env = right;
});

test('a file that is not the evidence of its review stops the deletion, and an interrupted run goes on with its file', async () => {
  const changeId = await committed(2);
  await checkpoint();
  const path = join(out, `${changeId}.json`);
  writeFileSync(path, '{}');
  const before = await diffs();
  const refused = await archive();
  expect([refused.code, refused.out]).toEqual([14, expect.stringContaining(path)]);
  expect([await diffs(), readFileSync(path, 'utf8')]).toEqual([before, '{}']);

  rmSync(path);
  expect(await later(['export', changeId, '--bytes', '--out', path])).toMatchObject({ code: 0 });
  const text = readFileSync(path, 'utf8');
  const right = env;
  env = { ...env, TEMPORAL_NAMESPACE: 'absent' };
  expect(await archive()).toMatchObject({ code: 1, err: expect.stringContaining('absent') });
  expect(await diffs()).toBe(before);
  env = right;
  expect(JSON.parse((await archive()).out)).toMatchObject({
    ...{ archived: [changeId], deletedDiffs: 1, deletedHistories: 1 },
  });
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test('a review whose stored evidence cannot be read is kept with the reason, and does not stop the others', async () => {
  const [unreadable, fine, damaged] = [await committed(8), await committed(9), await committed(10)];
  await checkpoint();
  const admin = new URL(system.setup.targetAdminUrls['shop'] ?? '');
  admin.pathname = new URL(system.setup.databaseUrls.cs_gateway).pathname;
  // Without the triggers, which forbid it.
  const change = (from: string, to: string) =>
    query(
      admin.href,
      `set session_replication_role = replica;
       update staging_records set preview = replace(preview::text, '${from}', '${to}')::json where change_id = '${unreadable}';
       update ledger set body = replace(body, '${from}', '${to}') where change_id = '${damaged}' and kind = 'receipt'`,
    );
  await change('"stored"', '"hidden"');
  await change('"envelope":', '"envelope"');
  expect(await archived()).toMatchObject({
    archived: expect.arrayContaining([fine]),
    kept: expect.arrayContaining([
      { changeId: unreadable, problem: expect.stringContaining('is not the one of its dry run') },
      // Without any content of the row.
      { changeId: damaged, problem: 'its evidence cannot be exported: a row of it is not valid JSON' },
    ]),
  });
  await change('"hidden"', '"stored"');
  await change('"envelope"', '"envelope":');
  expect(await archived()).toMatchObject({ archived: expect.arrayContaining([unreadable, damaged]) });
});

test('only the role of the operator may delete diffs', async () => {
  env = { ...env, COUNTERSIGN_OPERATOR_DATABASE_URL: system.setup.databaseUrls.cs_gateway };
  kept = await committed(3);
  await checkpoint();
  const before = await diffs();
  const refused = await archive(scratch.path('other'));
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('permission denied for table blobs')]);
  expect([await diffs(), await runs(kept)]).toEqual([before, 1]);
});

test('the histories of archived reviews are deleted, and no other', async () => {
  await eventually('the history is deleted', async () => (await runs(first)) === 0, { everyMs: 100 });
  expect(await runs(kept)).toBe(1);
});
