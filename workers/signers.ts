import type { Attestor } from '../activities/attestation';
import type { ReceiptSigner } from '../activities/committer/settlement';
import { signPredicate } from '../signing/envelope';
import type { SigningKey } from '../signing/keys';

/** Signs what review worker and judge worker attest. */
export function attestorWith(key: SigningKey): Attestor {
  return { keyId: key.keyId, sign: (predicate) => signPredicate('attested', predicate, key) };
}

/** Signs receipts and the heads of changes with the key of the committer. */
export function receiptSignerWith(key: SigningKey): ReceiptSigner {
  return {
    keyId: key.keyId,
    sign: (predicate) => signPredicate('receipt', predicate, key),
    signHead: (predicate) => signPredicate('change-head', predicate, key),
  };
}
