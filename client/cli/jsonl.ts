import type { Io } from './command';

/** JSON lines are read whole: enough for a hundred thousand diffs. */
const MAX_INPUT_BYTES = 256 * 1024 * 1024;

/** A file, or standard input where none or `-` is named. Throws past 256 MiB, and on what is no UTF-8. */
export async function readInput(io: Io, file: string | undefined): Promise<string> {
  const bytes =
    file === undefined || file === '-'
      ? await io.deps.stdin.read(MAX_INPUT_BYTES)
      : await io.deps.readFile(file, MAX_INPUT_BYTES);
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/** Lines that hold something, with their number in the file from 1. */
export function toLines(text: string): { readonly text: string; readonly number: number }[] {
  return text
    .split('\n')
    .map((row, i) => ({ text: row, number: i + 1 }))
    .filter((row) => row.text.trim() !== '');
}
