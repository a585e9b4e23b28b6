import fs from 'node:fs';
import { readFileBytes, writeNewFile } from '../../cli/files';
import { temporaryFolder } from './run-command';

const { path, write } = temporaryFolder();

it('reads a file up to its limit', async () => {
  expect(await readFileBytes(write('four', 'abcd'), 4)).toEqual(Buffer.from('abcd'));
  await expect(readFileBytes(path('four'), 3)).rejects.toThrow(`${path('four')}: expected at most 3 bytes`);
});

it('has the same limit for a device, whose size is unknown', async () => {
  await expect(readFileBytes('/dev/zero', 1024)).rejects.toThrow('/dev/zero: expected at most 1024 bytes');
});

it('names a file that cannot be read', async () => {
  await expect(readFileBytes(path('none'), 3)).rejects.toThrow(`${path('none')}: no such file`);
  await expect(readFileBytes(path('.'), 3)).rejects.toThrow(`${path('.')}: expected a file, got a directory`);
});

it('names a new file whose directory does not exist', async () => {
  expect(() => writeNewFile(path('none/new'), 'b')).toThrow(`${path('none/new')}: its directory does not exist`);
});

it('never overwrites a file, and says what to do', async () => {
  expect(() => writeNewFile(write('kept', 'a'), 'b')).toThrow(
    `${path('kept')} already exists and is not overwritten. Choose another path`,
  );
  expect(Buffer.from(await readFileBytes(path('kept'), 3)).toString()).toBe('a');
});

it('leaves no partial file on a full disk, and names the file', () => {
  const full = jest.spyOn(fs, 'writeFileSync').mockImplementation((file) => {
    fs.writeSync(file as number, 'par');
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  });
  try {
    expect(() => writeNewFile(path('full'), 'partial')).toThrow(`${path('full')} cannot be written: ENOSPC`);
  } finally {
    full.mockRestore();
  }
  expect(fs.readdirSync(path('.')).filter((name) => name.startsWith('full'))).toEqual([]);
});

it('writes a new file for its owner only', () => {
  writeNewFile(path('evidence'), 'a');
  expect(fs.statSync(path('evidence')).mode & 0o777).toBe(0o600);
});
