import { globCovers } from '../../../policy/text/glob';
import type { HttpUrl } from '../facts/http-facts';
import { isPluralOfVerb } from './action-words';
import { isIdentifier, unknownWords } from './identifier';

/** Segments before the first collection that only name the API or its version. */
const PREFIX = /^(?:api|rest|v?\d{1,4}(?:\.\d{1,3})?|\d{4}-\d\d(?:-\d\d)?)$/i;

/**
 * One word, whose last letters then show whether it is a noun in the plural; a verb such as `sync` and a noun such as `state` are
 * not. Several words, as in `purge-caches` and `deleteUsers`, can be an action.
 */
const WORD = /^(?:[a-z]+|[A-Z][a-z]+|[A-Z]+)$/;
const IRREGULAR = new Set(['media', 'people', 'children']);

const EXTENSION = /\.json$/i;

function isCollection(segment: string): boolean {
  if (!WORD.test(segment)) return false;
  const lower = segment.toLowerCase();
  if (IRREGULAR.has(lower)) return true;
  return lower.length > 2 && lower.endsWith('s') && !lower.endsWith('ss') && !isPluralOfVerb(lower);
}

/**
 * What the path addresses by its form: `one` resource, `/v1/orders/17/items/3`; `many`, `/v1/orders` and `/v1/orders/17/items`.
 * Only collections and identifiers may follow the prefix; otherwise it is the first segment that is neither, with the words of
 * `unknownWords`, or null without a segment.
 */
type Addressed = 'one' | 'many' | null | UnknownSegment;

export interface UnknownSegment {
  readonly segment: string;
  readonly expected: 'collection' | 'identifier';
  /** Words without which the segment would be an identifier; empty if it has another form. */
  readonly words: readonly string[];
}

/** `words`: as in `isIdentifier`. */
export function addressed({ path }: HttpUrl, words: ReadonlySet<string>): Addressed {
  const segments = path.slice(1).replace(EXTENSION, '').split('/');
  if (segments.at(-1) === '') segments.pop();
  const first = segments.findIndex((segment) => !PREFIX.test(segment));
  if (first === -1) return null;
  const named = segments.slice(first);
  for (const [i, segment] of named.entries()) {
    if (i % 2 === 0) {
      if (!isCollection(segment)) return { segment, expected: 'collection', words: [] };
      continue;
    }
    const unknown = unknownWords(segment, named[i - 1] as string, words);
    if (unknown === null || unknown.length > 0) return { segment, expected: 'identifier', words: unknown ?? [] };
  }
  return named.length % 2 === 0 ? 'one' : 'many';
}

/** Whether the path has the segments of the pattern: `{id}` is an identifier, `*` any text within a segment. */
export function matchesPath(pattern: string, path: string, words: ReadonlySet<string>): boolean {
  const [expected, given] = [pattern.split('/'), path.split('/')];
  return (
    expected.length === given.length &&
    expected.every((glob, i) => {
      const segment = given[i] as string;
      if (segment === '') return glob === '';
      return glob === '{id}' ? isIdentifier(segment, given[i - 1] ?? '', words) : globCovers(glob, segment);
    })
  );
}

/** The first segment in the place of an {id} that is not an identifier, if the path matches in all other segments. */
export function unknownIdentifier(pattern: string, path: string, words: ReadonlySet<string>): UnknownSegment | null {
  const [expected, given] = [pattern.split('/'), path.split('/')];
  const places = [...expected.keys()].filter((i) => expected[i] === '{id}');
  const others = expected.map((glob) => (glob === '{id}' ? '*' : glob)).join('/');
  if (places.length === 0 || !matchesPath(others, path, words)) return null;
  for (const i of places) {
    const segment = given[i] as string;
    const unknown = unknownWords(segment, given[i - 1] ?? '', words);
    if (unknown === null || unknown.length > 0) return { segment, expected: 'identifier', words: unknown ?? [] };
  }
  return null;
}
