import { z } from 'zod';
import { errorMessage } from '../policy/contracts/error-message';
import { parseUniqueJson } from '../policy/text/unique-json';
import { assertPublicKey } from './key-id';
import { OperatorKeys, PublicKey, publicKeyOf } from './operator-key';

const TrustFile = z.strictObject({ operators: OperatorKeys.min(1), committers: z.array(PublicKey).min(1).max(1000) });

/**
 * Parses a trust file: `{"operators": ["<public key>", …], "committers": […]}`, 64 lower-case hex digits each; an operator can also be
 * `{"publicKey": …, "until": …}` (OperatorKey). The verifier must get it from another source than the evidence. Throws TypeError if it is
 * malformed.
 */
export function parseTrust(text: string): z.infer<typeof TrustFile> {
  const parsed = TrustFile.safeParse(jsonOfFile(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new TypeError(
      `expected {"operators": [public keys], "committers": [public keys]}; ${issue?.path.join('.') || 'file'}: ${issue?.message ?? ''}`,
    );
  }
  [...parsed.data.operators.map(publicKeyOf), ...parsed.data.committers].forEach(assertPublicKey);
  return parsed.data;
}

function jsonOfFile(text: string): unknown {
  try {
    return parseUniqueJson(text);
  } catch (error) {
    throw new TypeError(
      `expected JSON {"operators": [public keys], "committers": [public keys]}, got invalid JSON: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}
