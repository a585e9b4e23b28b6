import type { Envelope } from '../contracts/diff';
import { toBase64 } from './base64';
import { toEnvelope } from './dsse';
import { statementDigest } from './passkey-challenge';
import type { Statement } from './statement';

/** What an authenticator returns for the challenge of these statements. */
export interface AssertionBytes {
  readonly authenticatorData: Uint8Array;
  readonly clientDataJSON: Uint8Array;
  readonly signature: Uint8Array;
}

/** The envelopes of the statements that were signed in one touch, in order. `keyId`: id of the registered passkey. Not verified. */
export function passkeyEnvelopes(
  statements: readonly Statement[],
  keyId: string,
  { authenticatorData, clientDataJSON, signature }: AssertionBytes,
): readonly Envelope[] {
  const passkey = {
    statements: statements.map(statementDigest),
    authenticatorData: toBase64(authenticatorData),
    clientDataJSON: toBase64(clientDataJSON),
  };
  return statements.map((statement) => {
    const envelope = toEnvelope(statement, keyId, () => signature);
    return { ...envelope, signatures: envelope.signatures.map((only) => ({ ...only, passkey })) };
  });
}
