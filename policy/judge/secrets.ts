import { placesIn } from '../rules/secrets/places';
import { privateKeys } from '../rules/secrets/private-keys';
import { scanText } from '../rules/secrets/scan';
import { disjoint, type SecretSpan } from '../rules/secrets/secret-span';
import { findInTokens } from './broad-tokens';

/** Raise it whenever the spans for the same text change. Part of `logic_hash`. */
export const REDACTOR_REVISION = 12;

/**
 * Finds the spans that must not reach the model: everything that the secret rules find, and doubtful cases too, because a needless
 * placeholder is cheaper than a leaked key. Linear time, because the text may be hostile.
 */
export function findSecrets(text: string): SecretSpan[] {
  const places = placesIn(text);
  const { found } = scanText(text, places);
  const { private_key: keys, ...others } = found;
  return disjoint([
    ...[...privateKeys(text), ...keys].flatMap((key) => base64In(text, key)),
    ...Object.values(others).flat(),
    ...findInTokens(text, places.broad),
  ]);
}

/** In both alphabets: a JSON Web Key uses `-` and `_`. */
const BASE64_RUN = /[A-Za-z0-9+/=_-]{16,}/g;

/** The base64 of a private key. What else is between its markers stays visible. */
function base64In(text: string, { kind, start, end }: SecretSpan): SecretSpan[] {
  return [...text.slice(start, end).matchAll(BASE64_RUN)].map(({ 0: run, index }) => ({
    kind,
    start: start + index,
    end: start + index + run.length,
  }));
}
