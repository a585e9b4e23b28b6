import { sha256Hex } from '../../policy/contracts/hash';
import { MAX_DIFF_BYTES, MAX_INLINE_BYTES, type Submission } from '../../policy/contracts/diff';
import { changeId as changeIdOf } from '../../policy/contracts/change-id';
import { compileAll } from '../../workers/compile';
import { extensionsOf } from '../../workers/extensions';
import { SHOP, shopBundle, shopExtension } from '../support/shop-bundle';
import { startSystem, type System } from '../support/system';

let system: System;
beforeAll(async () => {
  system = await startSystem({
    ...SHOP,
    name: 'bad-input',
    bundleText: shopBundle({ target: '    inlineBytes: true' }),
  });
}, 120_000);
afterAll(() => system.close());
jest.setTimeout(120_000);

const GOOD = {
  target: 'shop',
  sourceTool: 'SQLDryRun',
  raw: 'update items set stock = 1 where id = 1',
  metadata: { table_name: 'items', affected_rows: 1 },
};

describe('a policy bundle is rejected with line, column and a suggestion', () => {
  const compile = (text: string) => () => compileAll(text, extensionsOf([shopExtension]));
  const good = shopBundle();
  const noValidators = `${good.slice(0, good.indexOf('validators:'))}validators: []\n`;
  test.each([
    ['without validators', noValidators, /\d+:\d+ .*always-approve/s],
    [
      'with an unknown rule pack',
      good.replace('pack: sql-postgres', 'pack: sql-postgre'),
      /\d+:\d+ .*Unknown pack "sql-postgre".*sql-postgres/s,
    ],
    [
      'with an unknown rule',
      good.replace('sql_dynamic_sql:', 'sql_dynamik_sql:'),
      /\d+:\d+ .*sql_dynamik_sql.*sql_dynamic_sql/s,
    ],
    [
      'with a version that is not installed',
      good.replace('sql_dynamic_sql: {', "sql_dynamic_sql: { version: 'v9',"),
      /\d+:\d+ .*v9.*v1/s,
    ],
    [
      'with a policy that matches no validator',
      good.replace('[guardian.vault]', '[guardian.vaults]'),
      /\d+:\d+ .*guardian\.vaults/s,
    ],
    ['with a group that does not exist', good.replace('group: keyless', 'group: keyles'), /\d+:\d+ .*"keyles"/s],
    [
      'with an unregistered callback',
      shopBundle({ policies: `  - { key: x, name: X, match: {}, callback: { key: nope, version: '1' } }` }),
      /\d+:\d+ .*nope/s,
    ],
    ['that is not YAML', `${good}\n  - [`, /\d+:\d+ /],
  ])('%s', (_title, text, message) => {
    expect(compile(text)).toThrow(message);
  });
});

describe('the client rejects invalid input before it sends anything', () => {
  test.each([
    ['a diff of 0 bytes', { raw: '' }, /raw: expected at least one byte, got 0 bytes/],
    [
      'a diff over the size limit',
      { raw: new Uint8Array(MAX_DIFF_BYTES + 1) },
      /raw: expected at most 1048576 bytes, got 1048577/,
    ],
    [
      'inline bytes over the size limit',
      { raw: new Uint8Array(MAX_INLINE_BYTES + 1), inline: true },
      /raw: expected at most 65536 bytes inline/,
    ],
    ['text with a lone surrogate', { raw: 'select \ud800' }, /raw: expected well-formed text/],
    ['metadata that is a string', { metadata: 'items' }, /metadata/],
    ['metadata that is an array', { metadata: [1] }, /metadata/],
    ['metadata with a value that JSON cannot represent', { metadata: { rows: 10n } }, /metadata/],
    ['metadata over the size limit', { metadata: { note: 'x'.repeat(20_000) } }, /metadata/],
    ['a target with a space', { target: 'the shop' }, /target/],
  ])('%s', async (_title, over, message) => {
    await expect(system.countersign.submit({ ...GOOD, ...over } as never)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(message) as string,
    });
  });
});

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
