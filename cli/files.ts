import { createReadStream } from 'node:fs';
import { messageOf } from '../client/errors';
import { createWhole } from '../signing/whole-file';
import type { Io } from './action';
import { readAtMost } from './read-at-most';
import { UsageError } from './usage-error';

/** Input is read into memory whole; this is enough for about a hundred thousand diffs. */
const MAX_INPUT_BYTES = 256 * 1024 * 1024;

/** The bytes of a file, which can also be a pipe or a device. Throws if it has more than `max`. */
export async function readFileBytes(path: string, max: number): Promise<Uint8Array> {
  try {
    return await readAtMost(createReadStream(path), max, path);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') throw new Error(`${path}: no such file`, { cause: error });
    if (code === 'EISDIR') throw new Error(`${path}: expected a file, got a directory`, { cause: error });
    throw error;
  }
}

/** Whole or not at all, with mode 600. Throws if the file exists: policies and evidence are never overwritten. */
export function writeNewFile(path: string, text: string): void {
  try {
    createWhole(path, text);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') throw new Error(`${path}: its directory does not exist`, { cause: error });
    if (code !== 'EEXIST') throw new Error(`${path} cannot be written: ${messageOf(error)}`, { cause: error });
    const what = 'already exists and is not overwritten. Choose another path, or move the existing file';
    throw new Error(`${path} ${what}`, { cause: error });
  }
}

function codeOf(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code;
}

/** The bytes of a file, or of standard input if `file` is undefined or `-`. */
export async function readInputBytes(io: Io, file: string | undefined, max = MAX_INPUT_BYTES): Promise<Uint8Array> {
  return file === undefined || file === '-' ? io.host.stdin.read(max) : readFileBytes(file, max);
}

/** As `readInputBytes`, as text. Throws a UsageError if the input is not UTF-8. */
export async function readInput(io: Io, file: string | undefined): Promise<string> {
  const bytes = await readInputBytes(io, file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${file === undefined || file === '-' ? 'standard input' : file}: expected UTF-8 text`);
  }
}
