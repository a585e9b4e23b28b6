const TEXT = String.raw`(?:"[^"#\\]*"|'[^'\\]*')`;
const WORD = String.raw`(?:${TEXT}|:\w+[?!]?|true|false|nil|\d[\d.]*)`;
const WORDS = String.raw`(?:${WORD}|\[\s*(?:${WORD}(?:\s*,\s*${WORD})*\s*)?\]|%[iw](?:\[[\w\s.-]*\]|\([\w\s.-]*\)))`;
const KEY = String.raw`(?:\w+:(?!:)|(?::\w+|${TEXT})\s*=>)`;
const ARGUMENTS = String.raw`(?:${KEY}\s*)?${WORDS}(?:\s*,\s*(?:${KEY}\s*)?${WORDS})*`;

/** Compares what the program runs on; an assignment or a call is not one. */
const CONDITION = String.raw`(?:if|unless)\s+(?:RUBY_[A-Z]+|ENV\[${TEXT}\])(?:\s*(?:[=!]=|[<>]=?)\s*${TEXT})?`;

const PLAIN = new RegExp(
  [
    String.raw`^\s*(?:end|gemspec|${CONDITION}`,
    String.raw`(?:gem|ruby|source)(?=[\s(]+(?:file:\s*)?["'])(?:\s+${ARGUMENTS}|\(\s*${ARGUMENTS}\s*\))(?:\s+${CONDITION})?`,
    String.raw`(?:group|platforms?)(?:\s+${ARGUMENTS}|\(\s*${ARGUMENTS}\s*\))\s+do)?\s*(?:#.*)?$`,
  ].join('|'),
);
/** Ruby then loads a file of the tree instead of one of the package. */
const REQUIRES_FILE = /\brequire(?::|\s*=>)[^#]*["'][./]/;

/** Whether a line of a Gemfile, which is a program, does nothing but name packages. */
export function isPlainRuby(text: string): boolean {
  return PLAIN.test(text) && !REQUIRES_FILE.test(text);
}

/** Whether a line begins or ends a comment of several lines, or ends the program before the end of the file. */
export function endsRuby(text: string): boolean {
  return /^(?:=(?:begin|end)\b|__END__)/.test(text);
}
