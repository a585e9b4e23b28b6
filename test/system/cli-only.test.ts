import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runCli } from '../../cli';
import { processHost } from '../../cli/host';
import type { Submission } from '../../policy/contracts/diff';
import { changeId as changeIdOf } from '../../policy/contracts/change-id';
import { sha256Hex } from '../../policy/contracts/hash';
import type { ReviewOutcome } from '../../policy/contracts/outcome';
import type { ReviewStatus } from '../../policy/contracts/status';
import { eventually } from '../support/eventually';
import { SHOP, shopBundle } from '../support/shop-bundle';
import { useSystem, type System } from '../support/system';
import { waitingPrice } from './scenarios';

const run = promisify(execFile);
const bundleText = shopBundle({ target: '    inlineBytes: true\n    answers: unsigned' });
const unsigned = useSystem({ ...SHOP, name: 'cli-unsigned', bundleText });
const signed = useSystem({ ...SHOP, name: 'cli-signed' });
const dir = mkdtempSync(join(tmpdir(), 'countersign-cli-'));
beforeAll(() => symlinkSync(process.env['COUNTERSIGN_TEST_CLI'] ?? '', join(dir, 'temporal')));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const address = (): string => process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? '';
const namespace = (): string => process.env['COUNTERSIGN_TEST_NAMESPACE'] ?? 'default';

/** Runs the Temporal CLI, without Countersign code. Returns its standard output. */
async function temporal(...args: string[]): Promise<string> {
  const { stdout } = await run(
    join(dir, 'temporal'),
    [...args, '--address', address(), '--namespace', namespace(), '--output', 'json'],
    { timeout: 100_000 },
  );
  return stdout;
}

const on = (changeId: string): string[] => ['--workflow-id', changeId];

async function statusOf(changeId: string): Promise<ReviewStatus> {
  const { queryResult } = JSON.parse(await temporal('workflow', 'query', ...on(changeId), '--type', 'status')) as {
    queryResult: ReviewStatus[];
  };
  return queryResult[0] as ReviewStatus;
}

async function waiting(changeId: string): Promise<ReviewStatus> {
  const disclosed = async (): Promise<ReviewStatus | null> => {
    const status = await statusOf(changeId);
    return status.fingerprint === null ? null : status;
  };
  return await eventually('a violation is disclosed', disclosed, { everyMs: 100 });
}

async function startByCli(system: System, requestKey: string, id: number): Promise<string> {
  const bytes = Buffer.from(String(waitingPrice(id).raw));
  const submission: Submission = {
    tenant: 'default',
    target: 'shop',
    sourceTool: 'SQLCAS',
    diffSha: sha256Hex(bytes),
    metadata: { table_name: 'prices', affected_rows: 1 },
    requestKey,
    inline: bytes.toString('base64'),
  };
  const changeId = changeIdOf(submission);
  await start(system, changeId, submission);
  return changeId;
}

async function start(system: System, id: string, submission: object): Promise<void> {
  const kind = ['--type', 'review', '--task-queue', `countersign-review${system.suffix}`];
  const once = ['--id-reuse-policy', 'RejectDuplicate'];
  await temporal('workflow', 'start', ...on(id), ...kind, ...once, '--input', JSON.stringify(submission));
}

async function resultOf(changeId: string): Promise<ReviewOutcome> {
  const { result } = JSON.parse(await temporal('workflow', 'result', ...on(changeId))) as { result: ReviewOutcome };
  return result;
}

test('the Temporal CLI alone can start, query and answer a review, by signal and by update', async () => {
  const changeId = await startByCli(unsigned, `cli${unsigned.suffix}`, 1);
  const status = await waiting(changeId);
  expect(status.warnings.join('\n')).toMatch(/NOT signed/);
  expect(status.warnings.join('\n')).toMatch(/inline/);
  // The submission is unsigned, so the requester is unknown and two people must confirm.
  const answer = (actor: string): string => {
    const answers = status.violations.map(({ violationId }) => ({
      violationId,
      fingerprint: status.fingerprint,
      decision: 'confirm',
      reason: 'manual',
      actor,
    }));
    return JSON.stringify({ answers });
  };
  const named = [...on(changeId), '--name', 'answer', '--input'];
  await temporal('workflow', 'signal', ...named, answer('alice'));
  const updated = await temporal('workflow', 'update', 'execute', ...named, answer('bob'));
  expect(updated).toContain('accepted');
  const outcome = await resultOf(changeId);
  expect(outcome).toMatchObject({ state: 'COMMITTED', action: 'COMMIT', changeId });
  expect(await unsigned.shop('select cents from prices where id = 1')).toEqual([{ cents: 600 }]);
});

test('a target without inlineBytes rejects inline bytes, and the workflow failure says why', async () => {
  const changeId = await startByCli(signed, `cli-refused${signed.suffix}`, 2);
  await expect(temporal('workflow', 'result', ...on(changeId))).rejects.toMatchObject({
    stdout: expect.stringMatching(/inlineBytes/) as string,
  });
});

test('a start under a wrong workflow id is rejected, and the failure contains the expected id', async () => {
  const submission = { tenant: 'default', target: 'shop', sourceTool: 'SQLCAS', diffSha: 'ab'.repeat(32) };
  const id = `not-a-hash${unsigned.suffix}`;
  await start(unsigned, id, submission);
  await expect(temporal('workflow', 'result', ...on(id))).rejects.toMatchObject({
    stdout: expect.stringMatching(/expected the id of this change, [0-9a-f]{64}/) as string,
  });
});

test('a signed answer is accepted when sent with the exact command that `countersign sign` prints', async () => {
  const { changeId } = await signed.submit(waitingPrice(3));
  await signed.waiting(changeId);
  const reason = `it's "fine" $HOME`;
  const confirm = ['--all', '--confirm', '--reason', reason, '--key', signed.setup.keys.alice.path];
  const [command = ''] = (await printed(['sign', changeId, ...confirm])).trim().split('\n').slice(-1);
  expect(command).toMatch(/^temporal workflow signal /);
  // Runs in a shell, because the quoting is part of the test.
  await run('sh', ['-c', command], { env: { PATH: `${dir}:/usr/bin:/bin`, HOME: dir }, timeout: 100_000 });
  const outcome = await resultOf(changeId);
  // The outcome that the Temporal CLI prints cannot be verified: it writes empty lists as null, and the receipt binds every finding.
  await expect(signed.ended(changeId)).resolves.toMatchObject({ verified: true });
  expect(outcome.state).toBe('COMMITTED');
  const accepted = (await signed.ledger(changeId)).find(({ row }) => row.kind === 'answer_accepted');
  expect(accepted?.row.body).toMatchObject({ person: 'alice', signed: true, via: 'signal', reason });
});

/** Runs our CLI in this process and returns its standard output. */
async function printed(args: readonly string[]): Promise<string> {
  let out = '';
  const connected = {
    reviews: signed.countersign,
    evidence: () => Promise.reject(new Error('`sign` must not read the evidence')),
    ledgerRows: () => Promise.reject(new Error('`sign` must not read the ledger')),
    keyFile: null,
    keyId: null,
    temporal: { address: address(), namespace: namespace() },
    close: async () => {},
  };
  const host = processHost('test', { NO_COLOR: '1' });
  const code = await runCli(args, {
    ...host,
    stdout: { isTTY: false, write: (text: string) => (out += text) },
    stderr: { isTTY: false, write: () => true },
    stdin: { isTTY: false, read: async () => new Uint8Array() },
    remote: { ...host.remote, reviews: async () => ({ connect: () => connected }) },
  });
  expect(code).toBe(0);
  return out;
}
