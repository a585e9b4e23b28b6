import { codePointName, isOrdinary } from './code-points';
import { isInvisible } from './invisible';

/** Raise it whenever the output changes for any input. Part of `logic_hash`. */
export const VISIBLE_REVISION = 3;

/** Escaped too, so that a text cannot contain a forged mark. */
const isBracket = (code: number): boolean => code === 0x27e6 || code === 0x27e7;

/** Replaces each invisible character with a mark such as `⟦U+200B⟧`. Keeps line feeds and tabs. */
export function makeVisible(text: string): string {
  if (isOrdinary(text)) return text;
  let shown = '';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x20 && unit < 0x7f) continue;
    if (unit === 0x0a || unit === 0x09) continue;
    const code = text.codePointAt(i) ?? unit;
    const width = code > 0xffff ? 2 : 1;
    if (isInvisible(code) || isBracket(code)) {
      shown += `${text.slice(from, i)}\u27e6${codePointName(code)}\u27e7`;
      from = i + width;
    }
    i += width - 1;
  }
  return from === 0 ? text : shown + text.slice(from);
}
