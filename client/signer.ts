import { sign } from 'node:crypto';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import type { Envelope } from '../policy/contracts/diff';
import { toBase64 } from '../policy/evidence/base64';
import { pae } from '../policy/evidence/dsse';
import type { Statement } from '../policy/evidence/statement';
import { signEnvelope } from '../signing/envelope';
import type { SigningKey } from '../signing/keys';
import { parseInput } from './parse';

/** Signs with a key in this process: a service key for submissions and gateway requests, an approver key for answers. */
export interface Signer {
  readonly keyId: string;
  /** The person that a service key acts for; null for other keys. */
  readonly onBehalfOf: string | null;
  readonly sign: (statement: Statement) => Envelope;
  /** Signs text that is not a statement, such as gateway requests. The payload type separates the two domains. */
  readonly signText: (payloadType: string, text: string) => Envelope;
}

/** A signer, for the options of a client. Its error is without the value, which can be a private key. */
export const SignerOption = z.custom<Signer>(
  (value) => typeof value === 'object' && value !== null && 'signText' in value,
  'expected a signer, got another value',
);

const Key = z.object({
  keyId: z.string(),
  // Without the value.
  privateKey: z.custom((value) => Boolean(value), 'expected a private key, got nothing'),
});

/** Creates a signer from a key, for example from `readKeyFile`. Throws `invalid_input`. */
export function createSigner(key: SigningKey & { readonly onBehalfOf?: string | null }): Signer {
  parseInput(z.object({ key: Key }), { key }, 'readKeyFile reads a key from its file');
  return {
    keyId: key.keyId,
    onBehalfOf: key.onBehalfOf ?? null,
    sign: (statement) => signEnvelope(statement, key),
    signText: (payloadType, text) => {
      const payload = utf8ToBytes(text);
      const sig = sign(null, pae(payloadType, payload), key.privateKey);
      return { payloadType, payload: toBase64(payload), signatures: [{ keyid: key.keyId, sig: toBase64(sig) }] };
    },
  };
}
