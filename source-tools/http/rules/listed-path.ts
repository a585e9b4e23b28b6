import { globCovers } from '../../../policy/text/glob';
import type { HttpUrl } from '../facts/http-facts';

/** Segments before the first collection that only name the API or its version. */
const PREFIX = /^(?:api|rest|v?\d{1,4}(?:\.\d{1,3})?|\d{4}-\d\d(?:-\d\d)?)$/i;

/**
 * One word, whose last letters then show whether it is a noun in the plural; a verb such as `sync` and a noun such as `state` are
 * not. Several words, as in `purge-caches` and `deleteUsers`, can be an action.
 */
const WORD = /^(?:[a-z]+|[A-Z][a-z]+|[A-Z]+)$/;
const IRREGULAR = new Set(['media', 'people', 'children']);

/** Forms of identifiers. A word can be an action or a group such as `all`, so none of them matches one. */
const IDENTIFIERS: readonly RegExp[] = [
  /^\d{1,20}$/,
  /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i,
  // SHOP-17, KT-170-BL
  /^(?=[^0-9]*\d)[A-Z][A-Z0-9]{0,15}(?:-[A-Z0-9]{1,16}){1,4}$/,
  // ord_5001
  /^[a-z]{1,10}_\d{2,20}$/,
  // cus_9s6XKzkNRiz8i3, 01J9ZC4QK3V8
  /^(?=[^0-9]*\d[^0-9]+\d)(?:[a-z]{1,10}_)?[A-Za-z0-9]{8,64}$/,
];
const EXTENSION = /\.json$/i;

function isCollection(segment: string): boolean {
  if (!WORD.test(segment)) return false;
  const lower = segment.toLowerCase();
  return IRREGULAR.has(lower) || (lower.length > 2 && lower.endsWith('s') && !lower.endsWith('ss'));
}

const isIdentifier = (segment: string): boolean => IDENTIFIERS.some((form) => form.test(segment));

/**
 * What the path addresses by its form: `one` resource, `/v1/orders/17/items/3`; `many`, `/v1/orders` and `/v1/orders/17/items`;
 * otherwise null. Only collections and identifiers may follow the prefix.
 */
export function addressed({ path }: HttpUrl): 'one' | 'many' | null {
  const segments = path.slice(1).replace(EXTENSION, '').split('/');
  if (segments.at(-1) === '') segments.pop();
  const first = segments.findIndex((segment) => !PREFIX.test(segment));
  if (first === -1) return null;
  const named = segments.slice(first);
  const alternate = named.every((segment, i) => (i % 2 === 0 ? isCollection(segment) : isIdentifier(segment)));
  if (!alternate) return null;
  return named.length % 2 === 0 ? 'one' : 'many';
}

/** Whether the path has the segments of the pattern: `{id}` is an identifier, `*` any text within a segment. */
export function matchesPath(pattern: string, path: string): boolean {
  const [expected, given] = [pattern.split('/'), path.split('/')];
  return (
    expected.length === given.length &&
    expected.every((glob, i) => {
      const segment = given[i] as string;
      if (segment === '') return glob === '';
      return glob === '{id}' ? isIdentifier(segment) : globCovers(glob, segment);
    })
  );
}
