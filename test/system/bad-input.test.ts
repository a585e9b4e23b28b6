import { sha256Hex } from '../../policy/contracts/hash';
import type { Submission } from '../../policy/contracts/diff';
import { changeId as changeIdOf } from '../../policy/contracts/change-id';
import { SHOP, shopBundle } from '../support/shop-bundle';
import { useSystem } from '../support/system';

const bundleText = shopBundle({ target: '    inlineBytes: true' });
const system = useSystem({ ...SHOP, name: 'bad-input', bundleText });

const GOOD = {
  target: 'shop',
  sourceTool: 'SQLDryRun',
  raw: 'update items set stock = 1 where id = 1',
  metadata: { table_name: 'items', affected_rows: 1 },
};

describe('the review rejects a submission and reports the reason to the submitter', () => {
  test('an unknown source tool [T14]', async () => {
    await expect(system.submit({ ...GOOD, sourceTool: 'SQLRun' })).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringMatching(/sourceTool: expected one of .*SQLDryRun.*got "SQLRun"/) as string,
    });
  });

  test('a target that has no plan', async () => {
    await expect(
      system.countersign.submit({ ...GOOD, target: 'bank', requestKey: system.suffix }),
    ).rejects.toMatchObject({ code: 'refused', message: expect.stringMatching(/bank/) as string });
  });

  /** Starts the workflow directly with any input, as a backend in another language would. Resolves with the failure message. */
  async function failureOf(over: Record<string, unknown>, id?: string): Promise<string> {
    const raw = Buffer.from(GOOD.raw);
    const submission = {
      tenant: 'default',
      target: 'shop',
      sourceTool: 'SQLDryRun',
      diffSha: sha256Hex(raw),
      metadata: {},
      requestKey: `${system.suffix}${JSON.stringify(over).slice(0, 60)}`,
      ...over,
    };
    const workflowId = id ?? safeChangeId(submission as Submission);
    const handle = await system.temporal.workflow.start('review', {
      workflowId,
      taskQueue: `countersign-review${system.suffix}`,
      args: [submission],
    });
    const failure = await handle.result().then(
      (outcome) => JSON.stringify(outcome),
      (error: { cause?: { message?: string } }) => error.cause?.message ?? String(error),
    );
    return failure;
  }
  function safeChangeId(submission: Submission): string {
    try {
      return changeIdOf(submission);
    } catch {
      return sha256Hex(Buffer.from(`${system.suffix}${Math.random()}`));
    }
  }

  test.each([
    ['metadata that is a string', { metadata: 'items' }, /metadata: /],
    ['an unknown member', { plan: {} }, /plan/],
    ['bytes that are not valid base64', { inline: '***' }, /inline: expected padded base64/],
    ['inline bytes over the size limit', { inline: 'A'.repeat(4 * 22_000) }, /inline: /],
    ['0 inline bytes', { inline: '', diffSha: sha256Hex(new Uint8Array()) }, /inline: expected at least one byte/],
    ['inline bytes with another digest', { inline: 'AAAA' }, /diffSha: expected [0-9a-f]{64}/],
    ['bytes that are not stored', { diffSha: 'cd'.repeat(32) }, /diffSha: expected the digest of stored bytes/],
    [
      'an envelope that is not a valid signature',
      { envelope: { payloadType: 'x', payload: 'AAAA', signatures: [{ keyid: 'k', sig: 'AAAA' }] } },
      /envelope: expected a submission signed/,
    ],
  ])('a start with %s', async (_title, over, message) => {
    expect(await failureOf(over)).toMatch(message);
  });

  test('a start without input', async () => {
    const handle = await system.temporal.workflow.start('review', {
      workflowId: sha256Hex(Buffer.from(`${system.suffix}none`)),
      taskQueue: `countersign-review${system.suffix}`,
      args: [],
    });
    await expect(handle.result()).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/Invalid workflow input: not a valid submission/) as string },
    });
  });
});

describe('input that cannot be parsed is never executed and is always reported', () => {
  test.each([
    ['bytes that are not UTF-8', Uint8Array.from([0x73, 0xff, 0xfe])],
    ['a NUL byte', "update items set name = 'a\0b' where id = 1"],
    ['text that is not SQL', 'please make everything cheaper'],
  ])('%s', async (_title, raw) => {
    const { changeId, preflight } = await system.submit({ ...GOOD, raw });
    expect(preflight).not.toBe('pending');
    if (preflight === 'pending') return;
    expect(preflight.findings.find((f) => f.validatorId === 'safety.sql_parse_failure')).toMatchObject({
      status: 'BLOCK',
    });
    const { state, outcome } = await system.ended(changeId);
    expect(state).toBe('ROLLED_BACK');
    expect(outcome.explanation).not.toBe('');
    expect((await system.ledger(changeId)).map(({ row }) => row.kind)).not.toContain('intent');
  });
});

test('calls for a review that does not exist fail with not_found', async () => {
  const unknown = 'ef'.repeat(32);
  await expect(system.countersign.status(unknown)).rejects.toMatchObject({ code: 'not_found' });
  await expect(system.countersign.withdraw(unknown, { actor: 'dana', reason: '' })).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(system.countersign.status('short')).rejects.toMatchObject({ code: 'invalid_input' });
});
