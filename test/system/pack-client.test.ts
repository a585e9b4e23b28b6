import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startProcess, type RunningProcess } from '../../workers/start-process';
import { snippet } from '../support/doc-snippets';
import { retried } from '../support/eventually';
import { reusablePort } from '../support/listening-port';
import { hasPython, pythonWith } from '../support/python';
import {
  compileAgainstDeclarations,
  compileIn,
  emptyProject,
  installedServer,
  link,
  run,
  type Tarball,
} from '../support/packed';
import { packedClient, packedServer } from '../support/packed-once';
import { SHOP, shopBundle } from '../support/shop-bundle';
import { startSystem, type System } from '../support/system';
import { gatewayEnv, temporalEnv } from '../support/system-env';

const root = join(__dirname, '..', '..');
const FORMATS = [
  ['module', 'mts', 'mjs'],
  ['commonjs', 'cts', 'cjs'],
] as const;
const NAMES = 'CountersignError, GatewayClient, createSigner, guard, readKeyFile, signAnswers, verifyReceipt';
/** Installed, without Temporal; measured at 1.8 MB. */
const MAX_INSTALLED_KB = 5 * 1024;

let system: System;
let gateway: RunningProcess;
let gatewayUrl: string;
let scratch: string;
let client: Tarball;
const projects = new Map<(typeof FORMATS)[number][0], string>();

/** Both packages as npm packs them: the gateway runs from the server's tarball, and its clients from the client's. */
beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'countersign-pack-'));
  client = await packedClient();
  for (const [type] of FORMATS) {
    const project = emptyProject(type, client);
    projects.set(type, project);
  }
  const server = installedServer(await packedServer(), scratch);
  // Not earlier: the commands above block this process, and connections of the system would time out meanwhile.
  system = await startSystem({ ...SHOP, name: 'pack', bundleText: shopBundle({ target: '    inlineBytes: true' }) });
  const port = await reusablePort();
  gatewayUrl = `http://127.0.0.1:${port}`;
  const env = gatewayEnv(system, port);
  gateway = await startProcess('gateway', env, scratch, () => {}, join(server, 'dist', 'workers', 'gateway.js'));
}, 180_000);

afterAll(async () => {
  await gateway.stop();
  await system.close();
  for (const path of [scratch, ...projects.values()]) rmSync(path, { recursive: true, force: true });
}, 60_000);
jest.setTimeout(180_000);

function projectOf(type: (typeof FORMATS)[number][0]): string {
  const project = projects.get(type);
  if (project === undefined) throw new Error(`No ${type} project was created`);
  if (!existsSync(join(project, 'node_modules', '@types'))) link(project, '@types/node');
  return project;
}

/**
 * The output of a program. Asynchronous, because the workers that serve it run in this process. It runs again, for two minutes, if no
 * worker answered it in time on a busy machine: a submission with the same request key is the same change.
 */
async function printed(project: string, script: string, env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: project, env: { ...process.env, ...env } };
  const run = () => promisify(execFile)(process.execPath, [script], options);
  const { stdout } = await retried(run, (error) => /'(worker|ledger|gateway)_unavailable'/.test(String(error)));
  return stdout;
}

test('the tarball contains code and types in both formats and the licences, and nothing else', () => {
  const chunks = ['index', 'shared', 'temporal'].flatMap((name) =>
    ['mjs', 'cjs', 'd.mts', 'd.cts'].map((extension) => `dist/${name}.${extension}`),
  );
  const others = ['LICENSE', 'README.md', 'dist/THIRD-PARTY-NOTICES.txt', 'package.json'];
  expect(client.files.toSorted()).toEqual([...chunks, ...others].toSorted());
});

test('both packages have one version', () => {
  const versionOf = (path: string): unknown =>
    (JSON.parse(readFileSync(join(root, path), 'utf8')) as { version: unknown }).version;
  expect(versionOf('client/package.json')).toBe(versionOf('package.json'));
});

test.each(FORMATS)(
  'installed into an empty %s project, the client adds no other package and is below the size limit',
  (type) => {
    const modules = join(projectOf(type), 'node_modules');
    expect(readdirSync(modules).filter((name) => !name.startsWith('.') && name !== '@types')).toEqual(['@countersign']);
    const kilobytes = Number.parseInt(run('du', ['-sk', join(modules, '@countersign')], root), 10);
    process.stdout.write(`@countersign/client, installed without Temporal: ${kilobytes} KB\n`);
    expect(kilobytes).toBeLessThan(MAX_INSTALLED_KB);
  },
);

test.each(FORMATS)(
  'a strict %s project compiles against it without zod and without Temporal, and each declared value exists',
  async (type, source, script) => {
    await compileAgainstDeclarations(
      projectOf(type),
      `types.${source}`,
      `import * as client from '@countersign/client';
import { GatewayClient, guard, type GuardBlock, type ReviewCalls, type ReviewResult, type ReviewStatus, type Submission } from '@countersign/client';

export const calls = (client: GatewayClient): ReviewCalls => client;
export const pay = (client: GatewayClient): ((order: { id: string }) => Promise<number | GuardBlock>) =>
  guard(async (order: { id: string }) => order.id.length, { sourceTool: 'Payment', target: 'shop', stage: (order) => JSON.stringify(order) }, client);
// @ts-expect-error the guarded function takes the arguments of the tool
export const wrongArgument = (client: GatewayClient) => pay(client)(1);
export function tell(result: ReviewResult): string {
  switch (result.state) {
    case 'PENDING': return result.status?.state ?? 'open';
    case 'ABORTED': return result.why;
    case 'COMMITTED': case 'ROLLED_BACK': case 'COMPENSATED': return String(result.outcome.reason);
    default: return result satisfies never;
  }
}
export const submission: Submission = { tenant: 'acme', target: 'shop', sourceTool: 'SQLDryRun', diffSha: '', metadata: {}, requestKey: '' };
// @ts-expect-error types that come from a zod schema are known, not \`any\`
export const wrongTarget: Submission = { ...submission, target: 1 };
// @ts-expect-error a state is one of a closed set
export const wrongState: ReviewStatus['state'] = 'UNKNOWN';
const values: Record<Exclude<keyof typeof client, 'default'>, true> = { GuardBlock: true, consult: true, isGuardBlock: true, prepareSubmission: true, signSubmission: true, verifyOutcome: true, confirmationsOf: true, signSupersession: true, signWithdrawal: true, verifiedReview: true, ${NAMES.replaceAll(/\w+/g, '$&: true')} };
console.log(Object.keys(values).filter((name) => !(name in client)).join());
`,
    );
    expect(await printed(projectOf(type), `types.${script}`)).toBe('\n');
  },
);

test.each(FORMATS)(
  'a %s program submits through the gateway and verifies the signed receipt',
  async (type, source, script) => {
    const project = projectOf(type);
    await compileIn(
      project,
      `submit.${source}`,
      `import { ${NAMES} } from '@countersign/client';

async function main(): Promise<void> {
  const [baseUrl = '', keyFile = '', committer = '', requestKey = ''] = (process.env['CLIENT_TEST'] ?? '').split('|');
  const client = new GatewayClient({ baseUrl, tenant: 'default', serviceKey: createSigner(readKeyFile(keyFile)), trust: { committers: [committer] } });
  const submitted = await client.submit({ target: 'shop', sourceTool: 'SQLDryRun', raw: 'update items set stock = 11 where id = 1', metadata: { table_name: 'items', affected_rows: 1 }, requestKey });
  const result = await client.result(submitted.changeId, { timeoutMs: 120_000 });
  if (result.state !== 'COMMITTED') throw new Error(JSON.stringify(result));
  const receipt = verifyReceipt(result.outcome.receipt, { committers: [committer] });
  const refund = guard(async (order: number) => \`refunded \${order}\`, { sourceTool: 'Refund', target: 'shop', stage: (order) => ({ raw: JSON.stringify({ order }), metadata: { table_name: 'refunds' } }) }, client);
  const refused = await client.status('not an id').catch((error: unknown) => error instanceof CountersignError && error.code);
  console.log(JSON.stringify({ changeId: submitted.changeId, verified: result.verified, receipt: receipt.ok, refund: await refund(7), refused }));
}
void main();
`,
    );
    const committer = system.key('committer').publicKey;
    const settings = [gatewayUrl, system.setup.keys.agent.path, committer, `${system.suffix}-${type}`].join('|');
    const answer = JSON.parse(await printed(project, `submit.${script}`, { CLIENT_TEST: settings })) as {
      changeId: string;
    };
    expect(answer).toEqual({
      changeId: expect.stringMatching(/^[0-9a-f]{64}$/),
      verified: true,
      receipt: true,
      refund: 'refunded 7',
      refused: 'invalid_input',
    });
    expect((await system.ledger(answer.changeId)).map(({ row }) => row.kind)).toContain('receipt');
    expect(await system.shop('select stock from items where id = 1')).toEqual([{ stock: 11 }]);
  },
);

test.each(FORMATS)(
  'the Temporal entry point requires its peer dependency and shares its classes with the main entry point (%s)',
  async (type, source, script) => {
    const project = projectOf(type);
    const load =
      type === 'module' ? `import('@countersign/client/temporal')` : `require('@countersign/client/temporal')`;
    expect(() => run(process.execPath, [`--input-type=${type}`, '-e', load], project)).toThrow(
      /Cannot find (package|module) '@temporalio\/client'/,
    );
    for (const name of ['client', 'common']) link(project, `@temporalio/${name}`);
    await compileIn(
      project,
      `temporal.${source}`,
      `import { Client } from '@temporalio/client';
import { CountersignError, guard, type ReviewCalls } from '@countersign/client';
import { commitSignal, Countersign } from '@countersign/client/temporal';

const countersign = new Countersign({ temporal: new Client(), tenant: 'acme', store: null, trust: { committers: ['00'.repeat(32)] } });
export const calls: ReviewCalls = countersign;
export const guarded = guard(async (id: number) => id, { sourceTool: 'Payment', target: 'shop', stage: String }, countersign);
void countersign.submit({ target: '', sourceTool: 'SQLDryRun', raw: 'x' }).catch((error: unknown) => console.log(error instanceof CountersignError, commitSignal.name));
`,
    );
    expect(await printed(project, `temporal.${script}`)).toBe('true commit\n');
  },
);

describe('the quickstarts', () => {
  /** Environment of the programs on the pages. */
  const settings = (): Record<string, string> => ({
    COUNTERSIGN_GATEWAY_URL: gatewayUrl,
    COUNTERSIGN_KEY_FILE: system.setup.keys.agent.path,
    COMMITTER_KEY: system.key('committer').publicKey,
    COUNTERSIGN_TRUST_FILE: system.setup.trustFile,
    COUNTERSIGN_TARGET: 'shop',
    COUNTERSIGN_QUEUE: `countersign-review${system.suffix}`,
    COUNTERSIGN_REQUEST_KEY: system.suffix,
    ...temporalEnv(),
  });

  test.each([
    ['docs/quickstart/gateway.md', 'gateway', 'committed, receipt verified: true\n'],
    ['docs/quickstart/guard.md', 'guard', 'refunded order 7\n'],
    ['docs/quickstart/temporal.md', 'temporal', 'COMMITTED true\n'],
  ])('the program of %s compiles and prints what the page says', async (page, name, expected) => {
    const project = projectOf('module');
    for (const peer of name === 'temporal' ? ['client', 'common'] : [])
      if (!existsSync(join(project, 'node_modules', '@temporalio', peer))) link(project, `@temporalio/${peer}`);
    await compileIn(project, `${name}.mts`, snippet(page, `${name}.mts`));
    expect(await printed(project, `${name}.mjs`, settings())).toBe(expected);
  });

  test('the program of README.md compiles', async () => {
    const [, program = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
    expect(program).toContain('GatewayClient');
    await compileIn(projectOf('module'), 'readme.mts', program);
  });

  test('the program of the README that is published with the client compiles', async () => {
    await compileIn(projectOf('module'), 'agent.mts', snippet('client/README.md', 'agent.mts'));
  });

  (hasPython() ? test : test.skip)(
    'the program of docs/quickstart/python.md submits a change that is committed',
    async () => {
      const python = await pythonWith('cryptography==46.0.3');
      writeFileSync(join(scratch, 'submit.py'), snippet('docs/quickstart/python.md', 'submit.py'));
      const options = { cwd: scratch, env: { ...process.env, ...settings() } };
      const { stdout } = await promisify(execFile)(python, ['submit.py'], options);
      expect(stdout).toBe('COMMITTED\n');
      expect(await system.shop('select stock from items where id = 1')).toEqual([{ stock: 12 }]);
    },
    360_000,
  );
});
