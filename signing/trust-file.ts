import { z } from 'zod';
import { KeyEntry } from '../policy/evidence/predicates';
import { jsonOf } from '../policy/text/json-of';
import { assertPublicKey } from './key-id';

const PublicKeys = z.array(KeyEntry.shape.publicKey).min(1).max(1000);
const TrustFile = z.strictObject({ operators: PublicKeys, committers: PublicKeys });

/**
 * Parses a trust file: `{"operators": ["<public key>", …], "committers": […]}`, 64 lower-case hex digits each. The verifier must
 * get it from another source than the evidence. Throws TypeError if it is malformed.
 */
export function parseTrust(text: string): z.infer<typeof TrustFile> {
  const value = jsonOf(text);
  if (value === undefined)
    throw new TypeError('expected JSON {"operators": [public keys], "committers": [public keys]}, got invalid JSON');
  const parsed = TrustFile.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new TypeError(
      `expected {"operators": [public keys], "committers": [public keys]}; ${issue?.path.join('.') || 'file'}: ${issue?.message ?? ''}`,
    );
  }
  [...parsed.data.operators, ...parsed.data.committers].forEach(assertPublicKey);
  return parsed.data;
}
