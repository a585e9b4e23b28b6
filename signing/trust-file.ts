import { z } from 'zod';
import { KeyEntry } from '../policy/evidence/predicates';
import { toPublicKeyObject } from './keys';

const PublicKeys = z.array(KeyEntry.shape.publicKey).min(1).max(1000);
const TrustFile = z.strictObject({ operators: PublicKeys, committers: PublicKeys });

/**
 * Reads a trust file: `{"operators": ["<public key>", …], "committers": […]}`, 64 lower-case hex digits each. It comes to the
 * verifier by another way than the evidence. Throws TypeError saying what was expected.
 */
export function parseTrust(text: string): z.infer<typeof TrustFile> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TypeError('expected JSON {"operators": [public keys], "committers": [public keys]}, got no JSON');
  }
  const parsed = TrustFile.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new TypeError(
      `expected {"operators": [public keys], "committers": [public keys]}; ${issue?.path.join('.') || 'file'}: ${issue?.message ?? ''}`,
    );
  }
  [...parsed.data.operators, ...parsed.data.committers].forEach(toPublicKeyObject);
  return parsed.data;
}
