import { addressCredentials } from '../rules/secrets/addresses';
import { placesIn } from '../rules/secrets/places';
import { privateKeys } from '../rules/secrets/private-keys';
import { scanText, SECRET_CATEGORIES } from '../rules/secrets/scan';
import { disjoint, type SecretSpan } from '../rules/secrets/secret-span';
import { findInTokens } from './broad-tokens';

/** Raise it whenever the spans for the same text change. Part of `logic_hash`. */
export const REDACTOR_REVISION = 8;

/**
 * Finds the spans that must not reach the model: everything that the secret rules find, and doubtful cases too, because a
 * needless placeholder is cheaper than a leaked key. Linear time, because the text may be hostile.
 */
export function findSecrets(text: string): SecretSpan[] {
  const places = placesIn(text);
  const { found } = scanText(text, places);
  const broad: SecretSpan[] = [];
  findInTokens(text, places.broad, broad);
  return disjoint([
    ...privateKeys(text),
    ...addressCredentials(text),
    ...SECRET_CATEGORIES.flatMap((category) => found[category]),
    ...broad,
  ]);
}
