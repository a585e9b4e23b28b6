const TEXT = String.raw`(?:"[^"#\\]*"|'[^'\\]*')`;
const WORD = String.raw`(?:${TEXT}|:\w+[?!]?|true|false|nil|\d[\d.]*)`;
const WORDS = String.raw`(?:${WORD}|\[\s*(?:${WORD}(?:\s*,\s*${WORD})*)?\s*\]|%[iw](?:\[[\w\s.-]*\]|\([\w\s.-]*\)))`;
const KEY = String.raw`(?:\w+:(?!:)|(?::\w+|${TEXT})\s*=>)`;
const ARGUMENTS = String.raw`(?:${KEY}\s*)?${WORDS}(?:\s*,\s*(?:${KEY}\s*)?${WORDS})*`;

const PLAIN = new RegExp(
  [
    String.raw`^\s*(?:end|gemspec|(?:gem|ruby|source)(?=[\s(]+(?:file:\s*)?["'])(?:\s+${ARGUMENTS}|\(\s*${ARGUMENTS}\s*\))`,
    String.raw`(?:group|platforms?)(?:\s+${ARGUMENTS}|\(\s*${ARGUMENTS}\s*\))\s+do)?\s*(?:#.*)?$`,
  ].join('|'),
);
/** Ruby then loads a file of the tree instead of one of the package. */
const REQUIRES_FILE = /\brequire(?::|\s*=>)[^#]*["'][./]/;

/** Whether a line of a Gemfile, which is a program, does nothing but name packages. */
export function isPlainRuby(text: string): boolean {
  return PLAIN.test(text) && !REQUIRES_FILE.test(text);
}
