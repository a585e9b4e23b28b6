import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exited, processesWith } from '../../dev/embedded/processes';
import { eventually } from '../support/eventually';

// Each run is a separate process that can be killed, with the compiled sources (`npm test` compiles them).
const compiled = join(__dirname, '../../dist/dev/embedded/runtime.js');
const PROGRAM = `
const { startRuntime } = require(${JSON.stringify(compiled)});
const say = (line) => console.error(line);
startRuntime({ stateDir: process.argv[1], say, searchAttributes: { CountersignStatus: 'Keyword' }, temporalPort: 0, uiPort: 0, fast: true })
  .then(async (runtime) => {
    await runtime.postgres.createDatabase('kept');
    runtime.beforeStop(async () => say('workers stopped'));
    console.log(JSON.stringify({ address: runtime.temporalAddress, uiUrl: runtime.uiUrl, made: await runtime.postgres.createDatabase('kept') }));
    setInterval(() => {}, 1000);
  })
  .catch((error) => { say(error.message); process.exit(1); });
`;

jest.setTimeout(120_000);

let stateDir: string;
const started: ChildProcess[] = [];
beforeAll(() => {
  if (!existsSync(compiled))
    throw new Error('dist/ is missing: run `npm test`, or `npx tsc -p tsconfig.build.json` first');
  stateDir = mkdtempSync(join(tmpdir(), 'countersign-runtime-'));
});
afterEach(async () => {
  // A process is still running only if an expectation failed.
  for (const child of started.splice(0)) {
    child.kill('SIGTERM');
    await exited(child);
  }
});
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

interface Run {
  readonly child: ChildProcess;
  readonly log: () => string;
  /** The line printed when everything is running; undefined if the process exited before. */
  readonly up: Promise<string | undefined>;
}

const startRuntime = (): Run => start(['-e', PROGRAM, stateDir]);

function start(args: readonly string[]): Run {
  // Always the embedded servers, even if the tests run against other servers (test:cluster).
  const { TEMPORAL_ADDRESS: _address, COUNTERSIGN_DATABASE_ADMIN_URL: _url, ...env } = process.env;
  const child = spawn(process.execPath, args, {
    env: { ...env, COUNTERSIGN_STATE_DIR: stateDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const printed = new Promise<string>((resolve) => child.stdout.setEncoding('utf8').once('data', resolve));
  return { child, log: () => log, up: Promise.race([printed, exited(child).then(() => undefined)]) };
}

/** The line of a run that is up; throws with the log of a run that exited instead. */
async function printedBy(run: Run): Promise<unknown> {
  const line = await run.up;
  if (line === undefined) throw new Error(`The run did not start:\n${run.log()}`);
  return JSON.parse(line);
}

const servers = (): number =>
  processesWith(['start-dev', stateDir]).length + processesWith(['postgres -D', stateDir]).length;

it('starts on free loopback ports, rejects a second run with the pid of the first, and stops everything on SIGTERM', async () => {
  const first = startRuntime();
  const facts = (await printedBy(first)) as { address: string; uiUrl: string };
  expect(facts.address).toMatch(/^127\.0\.0\.1:/);
  expect((await fetch(facts.uiUrl)).status).toBe(200);

  const second = startRuntime();
  expect(await exited(second.child)).toBe(1);
  expect(second.log()).toContain(`as process ${first.child.pid}, Temporal UI ${facts.uiUrl}`);

  first.child.kill('SIGTERM');
  expect(await exited(first.child)).toBe(143);
  expect(first.log()).toContain('workers stopped');
  expect(servers()).toBe(0);
  expect(readdirSync(stateDir)).not.toContain('lock.json');
});

it('stops the servers that a killed run left behind and starts with its data', async () => {
  const killed = startRuntime();
  await printedBy(killed);
  killed.child.kill('SIGKILL');
  await exited(killed.child);
  expect(servers()).toBe(2);

  const next = startRuntime();
  expect(await printedBy(next)).toMatchObject({ made: false });
  expect(next.log().match(/a run that was killed left its server behind/g)).toHaveLength(2);
  expect(servers()).toBe(2);
  next.child.kill('SIGINT');
  expect(await exited(next.child)).toBe(130);
  expect(servers()).toBe(0);
});

it('stops the servers of dev, although one Ctrl-C arrives twice', async () => {
  const dev = start([join(__dirname, '../../dist/cli/main.js'), 'dev', '--json']);
  expect(await printedBy(dev)).toMatchObject({ keys: join(stateDir, 'keys') });
  expect(servers()).toBe(2);
  dev.child.kill('SIGINT');
  // As the terminal and scripts/run.mjs both send it.
  await eventually('dev stops', () => dev.log().includes('Stopping'), { everyMs: 1 });
  dev.child.kill('SIGINT');
  expect(await exited(dev.child)).toBe(130);
  expect(servers()).toBe(0);
});
