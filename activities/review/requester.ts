import type { Submission } from '../../policy/contracts/diff';
import type { KeySnapshot } from '../../policy/evidence/key-registry';
import { verifySubmission } from '../../signing/verify-submission';

/** Who stands behind a submission. An invalid signature is refused loudly: it is never read as "unsigned". */
export type Requester =
  | { readonly kind: 'known'; readonly person: string; readonly demo: boolean }
  /** No signature, or a key that submits for nobody: four eyes then need two people. */
  | { readonly kind: 'unknown'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

/** The person behind the service key (records.md §7). Used by review worker and committer alike. */
export function requesterOf(submission: Submission, development: boolean, keys: KeySnapshot): Requester {
  const verified = verifySubmission(submission, { keys: keys.find, development });
  if (!verified.ok) return { kind: verified.code === 'unsigned' ? 'unknown' : 'refused', why: verified.message };
  if (verified.requester === null)
    return { kind: 'unknown', why: `key ${verified.keyId} is registered on behalf of nobody` };
  return { kind: 'known', person: verified.requester, demo: keys.find(verified.keyId)?.demo === true };
}
