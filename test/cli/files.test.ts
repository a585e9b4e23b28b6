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
  await expect(writeNewFile(path('none/new'), 'b')).rejects.toThrow(
    `${path('none/new')}: its directory does not exist`,
  );
});

it('never overwrites a file, and says what to do', async () => {
  await expect(writeNewFile(write('kept', 'a'), 'b')).rejects.toThrow(
    `${path('kept')} already exists and is not overwritten. Choose another path`,
  );
  expect(Buffer.from(await readFileBytes(path('kept'), 3)).toString()).toBe('a');
});
