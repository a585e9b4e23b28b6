import { statSync } from 'node:fs';
import { join } from 'node:path';
import { privateDirectory } from '../../cli/private-files';
import { temporaryFolder } from './run-command';

describe('a private directory', () => {
  const folder = temporaryFolder();

  it('is made with its parents, for the user only, and may exist', () => {
    const path = folder.path('a/b');
    privateDirectory(path);
    privateDirectory(path);
    expect([path, folder.path('a')].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o700]);
  });

  it('is refused at and below a file', () => {
    const file = folder.write('file', '');
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
