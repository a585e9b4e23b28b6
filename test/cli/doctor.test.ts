import { writeFileSync } from 'node:fs';
import { checkGateway } from '../../cli/doctor/gateway';
import { Summary } from '../../cli/doctor/histories';
import { checkNode } from '../../cli/doctor/machine';
import { checkTrust } from '../../cli/doctor/policies';
import { readProcesses } from '../../cli/doctor/processes';
import { checkTargets } from '../../cli/doctor/targets';
import { checkBuilds, checkVersion, queueCheck } from '../../cli/doctor/temporal';
import { startLoopbackServer } from '../../dev/fixtures/loopback-server';
import { engines } from '../../package.json';
import { newKeyPair } from '../../signing/keys';
import type { OperatorKey } from '../../signing/operator-key';
import type { LocalClient } from '../../workers/local-client';
import type { Replayed } from '../../workers/replay/replay-histories';
import { runCommand, temporaryFolder } from './run-command';

const folder = temporaryFolder();

test.each([
  ['18.20.8', false],
  ['20.19.6', false],
  ['20.20.0', true],
  ['22.0.0', true],
  ['24.1.0', true],
])('Node %s fits the minimum of package.json: %s', (version, ok) => {
  expect(engines.node).toBe('>=20.20');
  expect(checkNode(version).ok).toBe(ok);
});

test.each([
  ['1.29.1', true],
  ['1.32.0', true],
  ['2.0.0', true],
  ['1.29.0', false],
  ['1.28.9', false],
  ['0.30.0', false],
  ['', true],
  ['main-8f3a', true],
])('Temporal server %j fits: %s', (version, ok) => {
  expect(checkVersion('127.0.0.1:7233', version).ok).toBe(ok);
});

test('a queue has live pollers only if one polled in the last two minutes', () => {
  const check = (...ages: number[]) => queueCheck('queue a', ages, 'start it');
  expect(check(1_000, 200_000)).toMatchObject({ ok: true, detail: '1 poller' });
  expect(check()).toMatchObject({ ok: false, detail: 'no worker polls it', fix: 'start it' });
  expect(check(200_000, 150_000)).toMatchObject({ ok: false, detail: 'the last poll was 150 s ago' });
});

test.each([
  [null, [null], []],
  [null, [], []],
  ['new', [], []],
  [null, ['new', null], []],
  [null, ['new'], [false]],
  ['new', ['new', 'old'], [true]],
  ['new', ['old'], [false]],
  ['new', [null], [false]],
])('with the current build %j, workers of the builds %j can start new reviews: %j', (current, builds, expected) => {
  const now = 1_000_000_000;
  const poller = (build: string | null, ageMs: number) => ({
    lastAccessTime: { seconds: ((now - ageMs) / 1000) as unknown as Long },
    deploymentOptions: { workerVersioningMode: build === null ? 1 : 2, buildId: build ?? 'ignored' },
  });
  const checks = checkBuilds(
    'reviews',
    {
      pollers: [...builds.map((build) => poller(build, 1_000)), poller('new', 200_000)],
      versioningInfo: current === null ? null : { currentDeploymentVersion: { buildId: current } },
    },
    now,
  );
  expect(checks.map(({ ok }) => ok)).toEqual(expected);
  expect(checks.every(({ ok, fix }) => ok || fix?.includes('set-current-version --deployment-name reviews'))).toBe(
    true,
  );
});

test('trusted operators whose time has ended are counted apart, and no other one is a failure', () => {
  const [one, two] = [newKeyPair().publicKey, newKeyPair().publicKey];
  const ended = { publicKey: one, until: '2026-01-01T00:00:00Z' };
  const check = (...operators: OperatorKey[]) => checkTrust({ operators, committers: [two] } as unknown as LocalClient);
  expect(check(ended, two)).toMatchObject({
    ok: true,
    detail: '1 operator key and 1 whose time has ended, 1 committer key',
  });
  expect(check({ ...ended, until: '2099-01-01T00:00:00Z' })).toMatchObject({ ok: true });
  expect(check(ended)).toMatchObject({ ok: false, detail: expect.stringContaining('time of every operator key') });
});

test('a process that trusts other keys than the CLI, or one of them until another time, is a failure', () => {
  const [one, two] = [newKeyPair().publicKey, newKeyPair().publicKey];
  const trustOf = (...operators: OperatorKey[]) => {
    const file = folder.path(`trust-${operators.length}.json`);
    writeFileSync(file, JSON.stringify({ operators, committers: [] }));
    const env = { COUNTERSIGN_DATABASE_URL: 'postgres://cs_gateway@db/countersign', COUNTERSIGN_TRUST_FILE: file };
    return readProcesses([['gateway', env]], { operators: [two, one], committers: [] }).checks;
  };
  expect(trustOf(one, two)).toMatchObject([{ ok: true }]);
  const differs = [{ ok: false, detail: expect.stringMatching(/^COUNTERSIGN_TRUST_FILE: /) }];
  expect(trustOf(one)).toMatchObject(differs);
  expect(trustOf(one, { publicKey: two, until: '2026-01-01T00:00:00Z' })).toMatchObject(differs);
});

test('a gateway that is not ready is a failure that repeats what it names', async () => {
  let status = 200;
  const { url: gatewayUrl, stop } = await startLoopbackServer((request, response) => {
    response.statusCode = request.url === '/readyz' ? status : 404;
    response.end('{"ok":false,"database":"down","temporal":"up"}');
  });
  const check = async () => (await checkGateway({ gatewayUrl } as LocalClient))[0];
  expect(await check()).toMatchObject({ ok: true });
  status = 503;
  expect(await check()).toMatchObject({
    ok: false,
    detail: expect.stringContaining('503 {"ok":false,"database":"down"') as string,
  });
  await stop();
  expect(await check()).toMatchObject({ ok: false, detail: expect.stringContaining(gatewayUrl) as string });
});

test('a gateway below a path is asked there', async () => {
  const { url, stop } = await startLoopbackServer((request, response) => {
    response.statusCode = request.url === '/countersign/readyz' ? 200 : 404;
    response.end();
  });
  for (const gatewayUrl of [`${url}/countersign`, `${url}/countersign/`])
    expect(await checkGateway({ gatewayUrl } as LocalClient)).toMatchObject([{ ok: true }]);
  await stop();
});

const sound: Replayed = { changeId: 'a'.repeat(64), runId: 'r', result: 'replays', why: '' };
const ofBuild = (build: string): Replayed => ({ ...sound, result: 'skipped', why: `of build ${build}` });

function replayed(of: number, unsampled: number, results: readonly Replayed[]) {
  const summary = new Summary(of, unsampled);
  for (const each of results) summary.add(each);
  return summary.check();
}

test('--replay prints how many reviews were replayed, how many were skipped and why, and how many are not in the sample', () => {
  expect(replayed(9, 4, [sound, ofBuild('1'), sound, ofBuild('2'), ofBuild('1')])).toEqual({
    name: 'histories',
    ok: true,
    detail:
      '2 of 9 reviews replayed, 2 skipped (of build 1), 1 skipped (of build 2), 4 closed reviews not in the sample',
    fix: null,
  });
  expect(replayed(0, 0, [])).toMatchObject({ ok: true, detail: '0 of 0 reviews replayed' });
});

test('--replay fails if there are reviews and none was replayed, and says how to name their build', () => {
  expect(replayed(2, 0, [ofBuild('1'), ofBuild('1')])).toMatchObject({
    ok: false,
    detail: '0 of 2 reviews replayed, 2 skipped (of build 1)',
    fix: expect.stringContaining('--build ID') as string,
  });
});

test('--replay fails if one history cannot be read, and names its review and the reason', () => {
  const unreadable: Replayed = { ...sound, runId: null, result: 'failed', why: 'could not be read: invalid memo' };
  expect(replayed(2, 0, [sound, unreadable])).toMatchObject({
    ok: false,
    detail: '1 of 2 reviews replayed, 1 do not replay: aaaaaaaaaaaa (run unknown): could not be read: invalid memo',
    fix: 'Correct what it names, for example add a missing payload key, and run it again',
  });
  expect(replayed(2, 0, [unreadable, { ...sound, result: 'damaged', why: 'Nondeterminism' }])).toMatchObject({
    ok: false,
    fix: expect.stringMatching(/^With a new version: do not deploy it/) as string,
  });
});

test('--build names the build whose histories --replay replays, and is refused without it', async () => {
  const doctor = jest.fn(async () => []);
  const remote = { doctor: { doctor } };
  expect(await runCommand(['doctor', '--replay', '--build', 'b1'], { remote })).toMatchObject({ code: 0 });
  expect(doctor).toHaveBeenCalledWith({}, { offline: false, replay: true, build: 'b1' });
  for (const args of [
    ['--build', 'b1'],
    ['--replay', '--build', ''],
  ])
    expect(await runCommand(['doctor', ...args], { remote })).toMatchObject({
      code: 2,
      err: expect.stringContaining('--build') as string,
    });
});

test('a database target that cannot be reached is to be started, or its URL corrected, before `target init` is repeated', async () => {
  const stageUrl = 'postgres://stage:x@127.0.0.1:9/shop';
  const targets = [{ name: 'shop', development: false, stageUrl, commitUrl: null }];
  const file = folder.write('targets.json', JSON.stringify({ targets }));
  const { checks } = await checkTargets({ COUNTERSIGN_TARGETS_FILE: file });
  expect(checks).toMatchObject([
    {
      ok: false,
      fix: 'If it cannot be reached, start it or correct its URL in COUNTERSIGN_TARGETS_FILE; otherwise run "countersign target init shop"',
    },
  ]);
});
