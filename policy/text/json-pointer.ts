import { escapePointer } from '../contracts/canonical-json';

/** Unescaped tokens of a JSON pointer (RFC 6901); null if it is not a valid pointer. */
export function tokensOf(pointer: string): string[] | null {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) return null;
  const tokens: string[] = [];
  for (const part of pointer.slice(1).split('/')) {
    let token = '';
    for (let i = 0; i < part.length; i++) {
      const c = part[i] as string;
      if (c !== '~') {
        token += c;
        continue;
      }
      const next = part[++i];
      if (next !== '0' && next !== '1') return null;
      token += next === '0' ? '~' : '/';
    }
    tokens.push(token);
  }
  return tokens;
}

export function pointerOf(tokens: readonly string[]): string {
  return tokens.map((token) => `/${escapePointer(token)}`).join('');
}

/** An array index in the form of RFC 6901, without leading zeros; null if the token is not an array index. */
export function arrayIndex(token: string): number | null {
  if (token === '0') return 0;
  const first = token.charCodeAt(0);
  if (token.length === 0 || token.length > 15 || first < 0x31 || first > 0x39) return null;
  for (let i = 1; i < token.length; i++) {
    const code = token.charCodeAt(i);
    if (code < 0x30 || code > 0x39) return null;
  }
  return Number(token);
}
