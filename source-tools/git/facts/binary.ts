import { inflateSync } from 'node:zlib';
import type { BinaryContent } from './git-facts';
import { decodeUtf8 } from '../../../policy/text/utf8';
import { refuse } from '../../../policy/text/refusal';
import { spanOf, type Source } from './source';

/** Maximum size of all binary content of one patch after decompression. */
export const MAX_BINARY_BYTES = 2 * 1024 * 1024;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
const VALUE = new Int16Array(128).fill(-1);
for (let i = 0; i < ALPHABET.length; i++) VALUE[ALPHABET.charCodeAt(i)] = i;

interface ReadBinary {
  readonly content: BinaryContent;
  readonly next: number;
}

interface Part {
  readonly method: 'literal' | 'delta';
  readonly data: Buffer;
  readonly next: number;
}

/**
 * Reads what follows `GIT binary patch` at `from`: the new content and, optionally, the old. Both are decompressed and
 * compared with their stated sizes, so that content that git would reject is refused. `left`: bytes that may still be
 * decompressed.
 */
export function readBinary(source: Source, from: number, left: number): ReadBinary {
  const forward = readPart(source, from, left);
  if (forward === null) return refuse('corrupt_binary', 'The binary patch has no content', spanOf(source, from));
  const reverse = readPart(source, forward.next, left - forward.data.length);
  const { method, data, next } = forward;
  const text = method === 'literal' && !data.includes(0) ? decodeUtf8(data) : null;
  const bytes = method === 'literal' ? data.length : sizeAfterDelta(data);
  if (bytes === null) return refuse('corrupt_binary', 'Invalid binary delta', spanOf(source, from));
  return { content: { method, bytes, text }, next: reverse === null ? next : reverse.next };
}

/** Null if no such part starts here. */
function readPart(source: Source, from: number, left: number): Part | null {
  const head = /^(literal|delta) (\d+)/.exec((source.lines[from] ?? '').slice(0, 100));
  if (head === null) return null;
  const [, method, size] = head;
  const corruptBinary = (why: string): never => refuse('corrupt_binary', why, spanOf(source, from));
  if (Number(size) > left)
    return refuse('too_large', `The binary content is larger than ${MAX_BINARY_BYTES} bytes`, spanOf(source, from));
  const chunks: Buffer[] = [];
  let at = from + 1;
  for (; ; at++) {
    const line = source.lines[at];
    if (line === undefined) return corruptBinary('The binary patch is not terminated');
    if (line === '') break;
    const chunk = decodeLine(line);
    if (chunk === null) return corruptBinary('Invalid base85 in a binary patch');
    chunks.push(chunk);
  }
  const data = inflate(Buffer.concat(chunks), Number(size));
  if (data === null) return corruptBinary('The binary content does not match its stated size');
  return { method: method as Part['method'], data, next: at + 1 };
}

function inflate(data: Buffer, size: number): Buffer | null {
  try {
    const inflated = inflateSync(data, { maxOutputLength: size + 1 });
    return inflated.length === size ? inflated : null;
  } catch (error) {
    // Catch only zlib's errors about invalid or too long data.
    const code = (error as { code?: unknown } | null)?.code;
    if (typeof code === 'string' && (code.startsWith('Z_') || code === 'ERR_BUFFER_TOO_LARGE')) return null;
    throw error;
  }
}

/** Decodes one line: a letter for its length, then five characters for every four bytes. Null if it is invalid. */
function decodeLine(line: string): Buffer | null {
  const length = lineLength(line.charCodeAt(0));
  if (length === 0 || line.length < 6 || (line.length - 1) % 5 !== 0) return null;
  const maxBytes = ((line.length - 1) / 5) * 4;
  if (length > maxBytes || length <= maxBytes - 4) return null;
  const out = Buffer.alloc(maxBytes);
  for (let i = 1, to = 0; i < line.length; i += 5, to += 4) {
    let value = 0;
    for (let k = 0; k < 5; k++) {
      const digit = VALUE[line.charCodeAt(i + k)] ?? -1;
      if (digit === -1) return null;
      value = value * 85 + digit;
    }
    if (value > 0xffffffff) return null;
    out.writeUInt32BE(value, to);
  }
  return out.subarray(0, length);
}

function lineLength(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code - 0x41 + 1;
  if (code >= 0x61 && code <= 0x7a) return code - 0x61 + 27;
  return 0;
}

/** The size after a delta, which starts with the sizes before and after; null if it does not. */
function sizeAfterDelta(delta: Buffer): number | null {
  let at = 0;
  const size = (): number | null => {
    let value = 0;
    for (let scale = 1; scale < 2 ** 42; scale *= 128) {
      const byte = delta[at++];
      if (byte === undefined) return null;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    return null;
  };
  return size() === null ? null : size();
}
