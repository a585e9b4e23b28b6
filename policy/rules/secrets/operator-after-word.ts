import { isQuote, isSpace, isWord, skipBlank } from './characters';

/** Maximum distance between a name and its operator. */
const MAX_BETWEEN = 40;

/** Position of the operator after a type or after the field that contains the value; null if there is neither. */
export function operatorAfterWord(text: string, at: number): number | null {
  return afterType(text, at) ?? afterField(text, at);
}

/** Position of the operator after a type: `: &str =`, ` string =`, `?: Token<string> =`. */
function afterType(text: string, at: number): number | null {
  let i = at;
  while (i - at < 4 && (text[i] === '?' || text[i] === ':' || text[i] === ' ' || text[i] === '&' || text[i] === '*'))
    i++;
  const word = i;
  while (i - word < MAX_BETWEEN && (isWord(text.charCodeAt(i)) || TYPE_MARKS.includes(text[i] as string))) i++;
  if (i === word) return null;
  i = skipBlank(text, i);
  return text[i] === '=' && text[i + 1] !== '=' && text[i + 1] !== '>' ? i : null;
}

const TYPE_MARKS = ['.', '<', '>', '[', ']', '?'];

/**
 * Position of the operator of the field that contains the value: `"name": "token", "value": …`, `name: token` with `value: …`
 * on the next line, `key="token" value=…`, `variable "token" { default = …`, `<key>token</key><string>…`.
 */
function afterField(text: string, at: number): number | null {
  let i = at;
  const sibling = SIBLINGS.find(([close]) => text.startsWith(close, at));
  if (sibling !== undefined) {
    const [close, open] = sibling;
    i += close.length;
    while (i - at < MAX_BETWEEN && (isSpace(text[i]) || text[i] === '+')) i++;
    return text.startsWith(`${open}>`, i) ? i + open.length : null;
  }
  const variable = defaultOfVariable(text, at);
  if (variable !== null) return variable;
  while (i - at < MAX_BETWEEN && (isSpace(text[i]) || FIELD_MARKS.includes(text[i] as string) || isQuote(text[i]))) i++;
  const word = ['value', 'default', 'ParameterValue'].find((field) => text.startsWith(field, i));
  if (i === at || word === undefined) return null;
  i += word.length;
  if (text[i] === '\\') i++;
  if (isQuote(text[i])) i++;
  i = skipBlank(text, i);
  return text[i] === '=' || text[i] === ':' ? i : null;
}

/** End of an element with a name, and the element with its value: a property list, and the settings of Hadoop. */
const SIBLINGS = [
  ['</key>', '<string'],
  ['</name>', '<value'],
] as const;

const MAX_BLOCK = 400;

/** Position of the operator of the default of a Terraform variable, after its other members. Null if it has no default. */
function defaultOfVariable(text: string, at: number): number | null {
  if (!text.startsWith('{', at)) return null;
  const block = text.slice(at, at + MAX_BLOCK);
  const end = block.indexOf('}');
  const found = /\n[+ ]?[ \t]{0,20}default[ \t]{0,20}=/.exec(end === -1 ? block : block.slice(0, end));
  return found === null ? null : at + found.index + found[0].length - 1;
}

/** With the "+" before an added line, for the judge, who sees whole patches. */
const FIELD_MARKS = [',', ':', '{', '=', '-', '+', '\\'];
