import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { writeKeyFile } from '../../signing/key-file';
import { newKeyPair } from '../../signing/keys';
import { ConfigError, readEnv, readKey, readTrustFile } from '../../workers/config';
import { loadExtensions } from '../../workers/extensions';
import { errorText, main } from '../../workers/main';
import { LogLevel } from '../../workers/process-env';
import { z } from 'zod';

const dir = mkdtempSync(join(tmpdir(), 'countersign-configuration-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
function file(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** The exit code of an entry point that starts like this, and what it prints. */
async function started(start: () => unknown): Promise<{ readonly code: unknown; readonly printed: string }> {
  let printed = '';
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((printed += String(text)), true));
  // The process is ended a second later.
  jest.spyOn(globalThis, 'setTimeout').mockImplementation((() => ({ unref: () => undefined })) as never);
  const before = process.exitCode;
  try {
    main('gateway', async () => void (await start()));
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    return { code: process.exitCode, printed };
  } finally {
    process.exitCode = before;
    jest.restoreAllMocks();
  }
}

function keyFile(kind: 'committer'): string {
  const path = join(dir, `${kind}.key.json`);
  const label = { kind, subject: { type: 'service', id: kind }, onBehalfOf: null, demo: false } as const;
  writeKeyFile({ path, key: newKeyPair(), label, createdAt: '2026-11-20T10:00:00.000Z' });
  return path;
}

const trust = (key: string): string => file('trust.json', JSON.stringify({ operators: [key] }));

test.each<[string, () => unknown, RegExp]>([
  [
    'a missing key file',
    () => readKey({ COUNTERSIGN_KEY_FILE: join(dir, 'none') }, 'attestor'),
    /^COUNTERSIGN_KEY_FILE: .*none: no such file; create one with/,
  ],
  [
    'a key file that is not one',
    () => readKey({ COUNTERSIGN_KEY_FILE: file('key', '{}') }, 'attestor'),
    /^COUNTERSIGN_KEY_FILE: Key file .*not a key file/,
  ],
  [
    'a key of another kind',
    () => readKey({ COUNTERSIGN_KEY_FILE: keyFile('committer') }, 'attestor'),
    /^COUNTERSIGN_KEY_FILE: expected a key of kind attestor, got one of kind committer$/m,
  ],
  [
    'a trusted key that is not on the curve',
    () => readTrustFile(trust('02'.padEnd(64, '0'))),
    /trust\.json: Public key/,
  ],
])('%s is an invalid configuration: exit code 2, with the reason', async (_, start, reason) => {
  const { code, printed } = await started(start);
  expect(printed).toMatch(reason);
  expect(code).toBe(2);
});

test.each([
  ['is missing', join(dir, 'none.cjs'), /^COUNTERSIGN_EXTENSIONS: .*none\.cjs cannot be loaded: .*Cannot find module/],
  [
    'throws',
    file('throws.cjs', 'null.x'),
    /^COUNTERSIGN_EXTENSIONS: .*throws\.cjs cannot be loaded: [^]*throws\.cjs:1/,
  ],
  [
    'has an ending that Node does not load',
    file('ending.cjs', 'throw Object.assign(new Error("Unknown a.cts"), { code: "ERR_UNKNOWN_FILE_EXTENSION" })'),
    /^COUNTERSIGN_EXTENSIONS: .*ending\.cjs cannot be loaded: Unknown a\.cts\. Node loads JavaScript.* Compile the file, and name the result$/,
  ],
  [
    'defines a name twice',
    file('twice.cjs', 'exports.extension = { callbacks: [{ name: "a" }, { name: "a" }] }'),
    /^COUNTERSIGN_EXTENSIONS: .*a/,
  ],
  [
    'has a member that does not exist',
    file('rules.cjs', 'exports.extension = { rules: [] }'),
    /^COUNTERSIGN_EXTENSIONS: .*rules\.cjs: extension: rules: unknown member/,
  ],
  [
    'has a rule that defineRule did not return',
    file('rule.cjs', 'exports.extension = { validators: [{ name: "a_rule", apply: () => ({ fires: false }) }] }'),
    /^COUNTERSIGN_EXTENSIONS: .*rule\.cjs: validators\[0\] "a_rule": expected a rule that defineRule returned: /,
  ],
  [
    'has a source tool that defineSourceTool did not return',
    file(
      'tool.cjs',
      'exports.extension = { sourceTools: [{ sourceTool: "A", mode: "enforced", measure: async () => null }] }',
    ),
    /^COUNTERSIGN_EXTENSIONS: .*tool\.cjs: sourceTools\[0\] "A": expected a source tool that defineSourceTool returned: /,
  ],
  [
    'has a callback that is nothing',
    file('callback.cjs', 'exports.extension = { callbacks: [null] }'),
    /^COUNTERSIGN_EXTENSIONS: Callback: .*got null/,
  ],
])('an extension that %s is an invalid configuration', async (_, path, reason) => {
  const loaded = loadExtensions(path);
  await expect(loaded).rejects.toThrow(reason);
  await expect(loaded).rejects.toBeInstanceOf(ConfigError);
});

test('a relative path of an extension is relative to the working directory', async () => {
  const path = relative(process.cwd(), file('empty.cjs', 'exports.extension = {}'));
  await expect(loadExtensions(path)).resolves.toBeDefined();
});

test('an invalid LOG_LEVEL is reported with the other invalid variables, with exit code 2', async () => {
  const schema = z.object({ LOG_LEVEL: LogLevel, COUNTERSIGN_DATABASE_URL: z.string() });
  const level = process.env['LOG_LEVEL'];
  process.env['LOG_LEVEL'] = 'loud';
  try {
    const { code, printed } = await started(() => readEnv(schema, { LOG_LEVEL: 'loud' }));
    expect(printed).toMatch(/LOG_LEVEL: [^]*COUNTERSIGN_DATABASE_URL: is not set/);
    expect(code).toBe(2);
  } finally {
    if (level === undefined) delete process.env['LOG_LEVEL'];
    else process.env['LOG_LEVEL'] = level;
  }
});

test('an error without a stack, as those of the Temporal SDK, is named too', () => {
  const error = new Error('Namespace nope is not found');
  delete error.stack;
  expect(errorText(error)).toBe('Error: Namespace nope is not found');
  expect(errorText(new Error('a'))).toMatch(/^Error: a\n +at /);
  expect(errorText('b')).toBe('b');
});

test('an outage at the start is not one: exit code 1, so that a supervisor starts the process again', async () => {
  const { code } = await started(() => Promise.reject(new Error('connection refused')));
  expect(code).toBe(1);
});
