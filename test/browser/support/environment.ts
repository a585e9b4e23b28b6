import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { judgeScript } from '../../../examples/demo/judge-script';
import { startScriptedJudge } from '../../../examples/demo/scripted-judge';
import { seedShop } from '../../../examples/demo/shop';
import { startProcess, type RunningProcess } from '../../../workers/start-process';
import { query } from '../../../dev/query';
import { compiled } from '../../support/compiled';
import { makeRepository, type GitRepository } from '../../../dev/fixtures/git-repository';
import { startJsonApi, type JsonApi } from '../../../dev/fixtures/json-api';
import { reusablePort } from '../../support/listening-port';
import { startSwitchProxy, type SwitchProxy } from '../../support/switch-proxy';
import { startSystem, type System } from '../../support/system';
import { gatewayEnv } from '../../support/system-env';
import { HOSTILE_SQL } from '../attacks/hostile-changes';
import { launchChromium } from './chromium';
import { inboxExtension, inboxPolicy, PLAIN_PARSER } from './policy';

/** Real servers, workers and a gateway process, and one browser. */
export interface Environment {
  readonly system: System;
  readonly browser: Browser;
  /** Of the inbox, such as `http://localhost:8077`. */
  readonly origin: string;
  readonly gateway: RunningProcess;
  /** Between the gateway and its servers; the workers do not go through them. */
  readonly database: SwitchProxy;
  readonly temporal: SwitchProxy;
  readonly repository: GitRepository;
  readonly api: JsonApi;
}

interface Running {
  readonly environment: Environment;
  readonly stop: () => Promise<void>;
}

let users = 0;
let running: Promise<Running> | null = null;

/** For one test file, or for all together: the first to ask starts the environment, the last to end stops it. */
export function useEnvironment(): () => Environment {
  let found: Environment | null = null;
  beforeAll(async () => {
    users += 1;
    running ??= start();
    found = (await running).environment;
  }, 240_000);
  afterAll(async () => {
    users -= 1;
    const last = users === 0 ? running : null;
    if (last === null) return;
    running = null;
    await (await last).stop();
  }, 60_000);
  return () => {
    if (found === null) throw new Error('The environment is used before it was started');
    return found;
  };
}

async function start(): Promise<Running> {
  const stops: (() => unknown)[] = [];
  /** In reverse order; each is tried. */
  const stop = async (): Promise<void> => {
    const results: PromiseSettledResult<unknown>[] = [];
    for (const each of stops.toReversed()) results.push(...(await Promise.allSettled([Promise.resolve().then(each)])));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  };
  try {
    return { environment: await startAll((each) => void stops.push(each)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startAll(onStop: (stop: () => unknown) => void): Promise<Environment> {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-browser-'));
  onStop(() => rmSync(dir, { recursive: true, force: true }));
  const dist = await compiled();
  const judge = await startScriptedJudge({ script: judgeScript });
  onStop(judge.stop);
  const api = await startJsonApi();
  onStop(api.stop);
  const repository = makeRepository({ 'README.md': 'one\n' });
  onStop(repository.remove);
  const system = await startInboxSystem(judge.baseUrl, repository, api);
  onStop(system.close);
  const temporalUrl = new URL(`http://${process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? ''}`);
  const databaseUrl = new URL(system.setup.databaseUrls.cs_gateway);
  const before = async ({ hostname: host, port }: URL): Promise<SwitchProxy> => {
    const proxy = await startSwitchProxy({ host, port: Number(port) });
    onStop(proxy.stop);
    return proxy;
  };
  const [database, temporal] = await Promise.all([before(databaseUrl), before(temporalUrl)]);
  const port = await reusablePort();
  // A passkey cannot belong to an address such as 127.0.0.1.
  const origin = `http://localhost:${port}`;
  const env = {
    ...gatewayEnv(system, port),
    TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
    COUNTERSIGN_DATABASE_URL: Object.assign(databaseUrl, { hostname: '127.0.0.1', port: String(database.port) }).href,
    COUNTERSIGN_PUBLIC_URL: origin,
    COUNTERSIGN_EXTENSIONS: [join(dist, 'examples', 'demo', 'extension.js'), plainTextModule(dir, dist)].join(','),
  };
  const gateway = await startProcess('gateway', env, dir, () => {}, join(dist, 'workers', 'gateway.js'));
  onStop(gateway.stop);
  const browser = await launchChromium();
  onStop(() => browser.close());
  return { system, browser, origin, gateway, database, temporal, repository, api };
}

async function startInboxSystem(judgeUrl: string, repository: GitRepository, api: JsonApi): Promise<System> {
  return await startSystem({
    name: 'browser',
    bundleText: inboxPolicy(),
    extension: inboxExtension,
    judge: { baseUrl: judgeUrl },
    async shopSql(adminUrl) {
      await seedShop(adminUrl);
      await query(adminUrl, HOSTILE_SQL);
    },
    targets: [repository.target, { ...api.target, http: { ...api.target.http, queryNames: ['q'] } }],
  });
}

/** The tool PlainText of `inboxExtension` as a module that the gateway's process can load. */
function plainTextModule(dir: string, dist: string): string {
  const file = join(dir, 'plain-text.js');
  writeFileSync(
    file,
    `const { defineSourceTool } = require(${JSON.stringify(join(dist, 'workers', 'extend.js'))});
const parser = ${JSON.stringify(PLAIN_PARSER)};
exports.extension = { sourceTools: [defineSourceTool({ sourceTool: 'PlainText', mode: 'cooperative', parser, facts: () => ({ ok: true, kind: 'text', parser }), staging: null })] };
`,
  );
  return file;
}
