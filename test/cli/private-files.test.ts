import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateDirectory } from '../../cli/private-files';

describe('a private directory', () => {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-private-'));
  afterAll(() => rmSync(dir, { recursive: true }));

  it('is made with its parents, for the user only, and may exist', () => {
    const path = join(dir, 'a', 'b');
    privateDirectory(path);
    privateDirectory(path);
    expect([path, join(dir, 'a')].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o700]);
  });

  it('is refused at and below a file', () => {
    writeFileSync(join(dir, 'file'), '');
    const file = join(dir, 'file');
    expect(() => privateDirectory(file)).toThrow(`${file}: expected a directory, got a file`);
    expect(() => privateDirectory(join(file, 'a'))).toThrow(/expected a directory, got a file|ENOTDIR/u);
  });

  (process.platform === 'linux' ? it : it.skip)(
    'is refused, without a hang, in a directory that takes no files',
    () => {
      expect(() => privateDirectory('/proc/countersign/a')).toThrow('ENOENT');
    },
  );
});
