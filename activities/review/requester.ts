import type { Submission } from '../../policy/contracts/diff';
import type { KeyLookup } from '../../policy/evidence/key-registry';
import { verifySubmission } from '../../signing/verify-submission';

/** Who requested a change. An invalid signature is refused; it is never treated as "unsigned". */
export type Requester =
  | { readonly kind: 'known'; readonly person: string; readonly demo: boolean }
  /** No signature, or a key without `onBehalfOf`: four eyes then require two people. */
  | { readonly kind: 'unknown'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

/** The person on whose behalf the service key is registered. */
export function requesterOf(submission: Submission, development: boolean, keys: KeyLookup): Requester {
  const verified = verifySubmission(submission, { keys, development });
  if (!verified.ok) return { kind: verified.code === 'unsigned' ? 'unknown' : 'refused', why: verified.message };
  if (verified.requester === null)
    return { kind: 'unknown', why: `key ${verified.keyId} is registered without onBehalfOf` };
  return { kind: 'known', person: verified.requester, demo: keys(verified.keyId)?.demo === true };
}
