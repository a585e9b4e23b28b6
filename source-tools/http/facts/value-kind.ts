import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { WrittenValue } from './http-facts';

/**
 * What a server, a page or a spreadsheet may act on in a text: markup, the template of an expression, a formula, the mention of a
 * person, or a command. Of characters that start such a form, only the continuations that occur in ordinary text are excepted.
 */
const ACTIVE: readonly RegExp[] = [
  // Markup, also encoded once more, images and styles that a page loads, and attributes that run a script.
  /<(?![\s\d=>-]|$)|%3c|\\(?:u00|x)3c|!\[|data:\w{1,20}\/|\burl\(|["'`][^"'`<>]{0,100}\bon[a-z]{3,20}\s{0,5}=/iu,
  // Character references, except of quotation marks, spaces, dashes and "&".
  /&#(?!(?:34|38|39|160|8\d{3}|x2[267]|xa0|x20[0-9a-f]{2});)/iu,
  /&(?:lt|commat|colon|equals|dollar|excl|num|percnt|sol|bsol|grave|l?brac[ek]|lcub|lsqb|lpar|tab|newline)\b/iu,
  // Templates and expressions. A brace may start JSON.
  /\{(?![\s"'}]|$)|\$(?![\d\s.,;:)?'"-]|$)|#[{(]|#[a-z]{1,30}\(|\[[#@=~]["'\p{L}]/iu,
  // Templates of newsletters and of Perl.
  /\*\|\w|%%[=[]|%%\w{1,60}%%|\[%[^\]]{0,100}%\]/iu,
  // A directive that includes a file.
  /(?:^|[\n\r])(?:\.\. )?[a-z-]{2,30}::/iu,
  // Formulas, also in a later line or cell.
  /^\s*[=@]|[\n\r][ \t]{0,8}=[^=\s]|[,;\t"'|]=[\p{L}+-]|(?:^\s*|[,;\t"'|])[+-]\s*[\w.]+\(|^\s*[+-][^|]*\|[^!]*!/iu,
  // Mentions, but not `anna@example.com`.
  /(?<![\p{L}\p{N}._%+/-])@(?!\s|$)|@(?![\p{L}\p{N}_\s]|$)/iu,
  // Commands to a tracker or a bot.
  /(?:^|\s)\/[\p{L}\d]|(?:^|[\n\r])[ \t]{0,8}!\p{L}/iu,
  // A title or description of a merge request becomes the message of a commit, in which these skip checks.
  /\[(?:(?:skip|no)[ -](?:ci|actions)|(?:ci|actions)[ -]skip)\]|\*no_ci\*|\bskip-checks:/iu,
];

/** The command of a commit message that moves the issue named before it: `SHOP-12 #done`. */
const SMART_COMMIT =
  /(?<![A-Z0-9])[A-Z][A-Z0-9]{1,9}-\d{1,9}(?:[ \t]{1,8}#\p{L}|[^\n\r#]{0,100}#(?:close|resolve|done|reopen|start|stop|time|comment))/u;

/** A link that runs a script. URL parsers ignore tabs and line ends. */
const SCRIPT = /(?:java|vb)script:/i;

/** Words by which trackers change the state of the issue that is named next. */
const CLOSING =
  /\b(?:clos|complet|fix|implement|reopen|resolv|duplicate of)[a-z]{0,3}[:\s]{1,3}(?:issues?\s{1,3})?(?=(?<issue>\S{1,200}))/giu;
/** `#12`, `shop/web#12`, `SHOP-12`, and the URL of an issue. */
const ISSUE = /#\d|^[A-Z][A-Z0-9]{1,9}-\d|^https?:\/\/\S*\/\d/u;

/** Also in the form in which some servers compare compatible characters. */
function isActive(text: string): boolean {
  const folded = text.normalize('NFKC');
  if (ACTIVE.some((form) => form.test(folded)) || SCRIPT.test(folded.replaceAll(/[\t\n\r]/g, ''))) return true;
  if (SMART_COMMIT.test(folded)) return true;
  for (const { groups } of folded.matchAll(CLOSING)) if (ISSUE.test(groups?.['issue'] ?? '')) return true;
  return false;
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
