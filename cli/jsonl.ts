import type { Io } from './command';
import { UsageError } from './usage-error';

/** JSON lines are read whole: enough for a hundred thousand diffs. */
const MAX_INPUT_BYTES = 256 * 1024 * 1024;

/** A file, or standard input where none or `-` is named. Throws past 256 MiB, and on what is no UTF-8. */
export async function readInput(io: Io, file: string | undefined): Promise<string> {
  const bytes = await readBytes(io, file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${file === undefined || file === '-' ? 'standard input' : file}: expected UTF-8 text`);
  }
}

/** The bytes as they are: a diff may be no text. */
export async function readBytes(io: Io, file: string | undefined): Promise<Uint8Array> {
  return file === undefined || file === '-'
    ? io.deps.stdin.read(MAX_INPUT_BYTES)
    : io.deps.readFile(file, MAX_INPUT_BYTES);
}

/** Lines that hold something, with their number in the file from 1. */
export function toLines(text: string): { readonly text: string; readonly number: number }[] {
  return text
    .split('\n')
    .map((row, i) => ({ text: row, number: i + 1 }))
    .filter((row) => row.text.trim() !== '');
}
