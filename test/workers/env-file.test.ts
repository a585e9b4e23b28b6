import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../workers/config-error';
import { formatEnvFile, readEnvFile, withCliEnv } from '../../workers/env-file';

const dir = mkdtempSync(join(tmpdir(), 'countersign-env-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const VALUES = {
  PLAIN: 'postgres://cs_review:ab12@127.0.0.1:5432/countersign',
  QUOTED: 'postgres://a:b@db/x?sslmode=require&options=-c a=$HOME #1 "q"',
  EMPTY: '',
};

test('a shell and Node read back what an environment file contains', () => {
  const path = join(dir, 'review.env');
  writeFileSync(path, formatEnvFile(VALUES));
  expect(readEnvFile(path)).toEqual(VALUES);
  const printed = execFileSync('sh', ['-c', `. ${path}; printf '%s\\n' "$PLAIN" "$QUOTED" "$EMPTY"`], {
    encoding: 'utf8',
  });
  expect(printed).toBe(`${Object.values(VALUES).join('\n')}\n`);
});

test.each(["it's", 'a\nB=1', 'a\\b'])('a value that readers understand differently is refused: %j', (value) => {
  expect(() => formatEnvFile({ NAME: value })).toThrow(/^NAME: expected a value without/);
});

test('the shell takes precedence over cli.env, and a missing file sets nothing', () => {
  writeFileSync(join(dir, 'cli.env'), formatEnvFile({ A: 'file', B: 'file' }));
  expect(withCliEnv(dir, { A: 'shell' })).toEqual({ A: 'shell', B: 'file' });
  expect(withCliEnv(join(dir, 'none'), { A: 'shell' })).toEqual({ A: 'shell' });
});

test('a file that cannot be read is named', () => {
  const path = join(dir, 'judge.env');
  mkdirSync(path);
  expect(() => readEnvFile(path)).toThrow(ConfigError);
  expect(() => readEnvFile(path)).toThrow(path);
});
