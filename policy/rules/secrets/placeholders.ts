import { sha256HexOfText } from '../../contracts/hash';
import { classesOf, countsOf } from './characters';
import { wordList } from '../../text/word-list';

/** Placeholder values: complete values in lower case without separators. */
const WORDS = new Set(
  wordList(`
  password passwd passphrase pwd secret token apikey apitoken mypassword mysecret mytoken mykey null nil none
  undefined true false string text varchar default excluded redacted hidden masked removed changeit changeme required
  optional test testing foobar
`),
);
const BEGINNINGS = [
  'your',
  'replace',
  'insert',
  'enter',
  'change',
  'example',
  'sample',
  'dummy',
  'placeholder',
  'todo',
  'fixme',
  'process.env',
  'os.environ',
  'import.meta',
  'current_setting',
  'crypt(',
  'gen_random',
  // references to a secret store
  'op://',
  'vault:',
  'ref+',
  'arn:',
  'ssm:',
  'awssm:',
  'secretref:',
  'keyvault:',
  'env:',
  'file:',
];

/**
 * True if a value is a placeholder and not a secret: a variable, a template, a common word, a repeated character, the alphabet.
 */
export function isPlaceholder(value: string): boolean {
  const text = value.trim();
  if (text === '') return true;
  const lower = text.toLowerCase();
  const plain = lower.replaceAll('_', '').replaceAll('-', '').replaceAll(' ', '');
  // Issuers end the example keys of their documentation like this.
  if (text.endsWith('EXAMPLE') || text.endsWith('EXAMPLEKEY')) return true;
  if (WORDS.has(plain) || BEGINNINGS.some((word) => lower.startsWith(word))) return true;
  return isVariable(text) || isFiller(lower);
}

const PAIRS: Readonly<Record<string, string>> = { '{': '}', '<': '>', '[': ']', '%': '%', '@': '@', '(': ')' };

/** A variable or template: `$NAME`, `${NAME}`, `$(command)`, `{{ value }}`, `<name>`, `[NAME]`, `%NAME%`, `:name`, `?`. */
function isVariable(text: string): boolean {
  const first = text[0] as string;
  if (first === '$') return true;
  if (first === '?' && text.length === 1) return true;
  // `#{name}`, and `@name` without a closing "@".
  if (text.startsWith('#{')) return true;
  if (first === '@' && isName(text.slice(1))) return true;
  if (first === ':') return !text.slice(1).includes(':') && isName(text.slice(1));
  const close = PAIRS[first];
  if (close === undefined) return false;
  const end = text.lastIndexOf(close);
  if (end <= 0) return first === '{' || first === '<';
  // Brackets around a generated value do not make it a template.
  return text.startsWith('{{') || !looksGenerated(text.slice(1, end));
}

function isName(text: string): boolean {
  const { digit, other } = classesOf(text.replaceAll('_', ''));
  return other === 0 && digit <= 2;
}

/** Long, with digits and letters of both cases. */
function looksGenerated(text: string): boolean {
  const { upper, lower, digit } = classesOf(text);
  return text.length >= 10 && digit >= 2 && upper > 0 && lower > 0;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz';

/** Filler text: an ellipsis, the alphabet, or mostly one repeated character. */
export function isFiller(text: string): boolean {
  if (text.includes('...') || text.includes('…') || text.toLowerCase().includes(ALPHABET)) return true;
  const most = text.length * 0.55;
  return countsOf(text).some((count) => count > most);
}

/** Keys that their owners publish in documentation and clients, as the first half of their SHA-256 digests. */
const PUBLISHED: ReadonlySet<string> = new Set([
  '0b476bdf9acf2123d547b5ae76f1e598',
  '2037abcaffb2b77785da716cf7ccff4f',
  '27a9a42931dff7eb2f8434e20a9bce97',
  '37f8f09bdf12c2f2eae4ead7273a62dd',
  '3a8b61d0f636b007840c0d40ba12bcf4',
  '3f370c9dd8225c63b5c77de1f785edc9',
  '49f777db995e8260da7ca9ffdf0c08d6',
  '4c98242dcadc8b29005c6b4aad526552',
  '8731261cb72d86267a32a532ebd3df42',
  'a19f89ab3555eac10c40741f6df79ecf',
  'a6c814bc555ae62c7bd8b58ec07bf559',
  'dc0fcf046c61640cbd1e8b999ada3262',
  'e4a5542bb7fd7b67e943c71ad29c34b5',
  'ea9bb1082cf95663f5faca23b8b15ef2',
  'eb540d2b6ee2a0a47c5779bc8a014178',
  'f56e323494a6ffc2064e7a955908957d',
]);

export function isPublished(token: string): boolean {
  return PUBLISHED.has(sha256HexOfText(token).slice(0, 32));
}
