import { isHex, isWord } from './characters';
import { foldAscii } from '../../text/fold-ascii';
import type { SecretSpan } from './secret-span';

const DIGITS = 64;
const AROUND = 120;
/** Words near a private key. Needed because the hash of a transaction or block has the same format. */
const WORDS = ['priv', 'wallet', 'seed', 'mnemonic', 'secret'];

/** Private keys: `0x` and 64 hexadecimal digits near one of WORDS. */
export function hexKeys(text: string): SecretSpan[] {
  const spans: SecretSpan[] = [];
  for (let at = text.indexOf('0x'); at !== -1; at = text.indexOf('0x', at + 2)) {
    const start = at + 2;
    if ((at > 0 && isWord(text.charCodeAt(at - 1))) || !isHexRun(text, start)) continue;
    const around = foldAscii(text.slice(Math.max(0, at - AROUND), start + DIGITS + AROUND));
    if (WORDS.some((word) => around.includes(word))) spans.push({ kind: 'hex_key', start, end: start + DIGITS });
  }
  return spans;
}

function isHexRun(text: string, start: number): boolean {
  let different = 0;
  for (let i = start; i < start + DIGITS; i++) {
    if (!isHex(text.charCodeAt(i))) return false;
    if (text[i] !== text[start]) different++;
  }
  return different > DIGITS / 2 && !isWord(text.charCodeAt(start + DIGITS));
}
