import type { Rendering } from './define';
import { decodeUtf8 } from '../policy/text/utf8';

/** The bytes as text, line for line; as hex where they are no UTF-8, so that nothing is shown other than it is. */
export function renderText(raw: Uint8Array, language: string): Rendering {
  const text = decodeUtf8(raw);
  return text === null ? { language: 'hex', text: hexLines(raw) } : { language, text };
}

function hexLines(raw: Uint8Array): string {
  const hex = Buffer.from(raw).toString('hex');
  const lines: string[] = [];
  for (let i = 0; i < hex.length; i += 64) lines.push(hex.slice(i, i + 64));
  return lines.join('\n');
}
