import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { WrittenValue } from './http-facts';

/**
 * What a server, a page or a spreadsheet may act on in a text: markup, the template of an expression, a formula, the mention of a
 * person, or a command. Of characters that start such a form, only the continuations that occur in ordinary text are excepted.
 */
const ACTIVE: readonly RegExp[] = [
  // Markup, also encoded once more, images, which a page loads, and links that run a script.
  /<(?![\s\d=>-]|$)|&(?:lt|#x?0{0,8}(?:60|3c))|%3c|\\(?:u00|x)3c|!\[|(?:java|vb)script:|data:\w{1,20}\//iu,
  // Templates and expressions. A brace may start JSON.
  /\{(?![\s"'}]|$)|\$(?![\d\s.,;:)?'"-]|$)|#[{(]|#[a-z]{1,30}\(|\[[#@=~]["'\p{L}]/iu,
  // A directive that includes a file.
  /(?:^|[\n\r])(?:\.\. )?[a-z-]{2,30}::/iu,
  // Formulas, also in a later line or cell.
  /^\s*[=@]|[\n\r][ \t]{0,8}=[^=\s]|[,;\t"']=\p{L}|^\s*[+-]\s*[\w.]+\(|^\s*[+-][^|]*\|[^!]*!/iu,
  // Mentions, but not `anna@example.com`.
  /(?<![\p{L}\p{N}._%+/-])@(?!\s|$)|@(?![\p{L}\p{N}_\s]|$)/iu,
  // Commands to a tracker or a bot.
  /(?:^|\s)\/[\p{L}\d]|(?:^|[\n\r])[ \t]{0,8}!\p{L}/iu,
  /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|implement(?:s|ed)?)[:\s]{1,3}[\w./-]{0,100}#\d/iu,
];

/** Also in the form in which some servers compare compatible characters. */
function isActive(text: string): boolean {
  const folded = text.normalize('NFKC');
  return ACTIVE.some((form) => form.test(folded));
}

/** What a value without members is; null if it has members or items. */
export function valueKind(value: JsonValue): WrittenValue['kind'] | null {
  switch (typeof value) {
    case 'string':
      return isActive(value) ? 'active-text' : 'text';
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    default:
      if (value === null) return 'null';
      return Object.keys(value).length === 0 ? 'empty' : null;
  }
}
