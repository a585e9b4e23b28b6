import type { Submission } from '../policy/contracts/diff';
import { changeId, inputSha } from '../policy/contracts/change-id';
import type { KeyLookup } from '../policy/evidence/key-registry';
import { verifyWithRegistry, type RegistryRefusal } from './registry-verify';

type SubmissionVerified =
  /** `requester` is null if the key is registered without `onBehalfOf`: the requester is then unknown, as without a signature. */
  | { readonly ok: true; readonly requester: string | null; readonly keyId: string }
  | { readonly ok: false; readonly code: RegistryRefusal | 'unsigned' | 'wrong_change'; readonly message: string };

/**
 * Verifies the service key's signature over the change and over what it supersedes. The requester comes from the registry, and the
 * statement must name the same person.
 */
export function verifySubmission(
  submission: Submission,
  expected: { readonly keys: KeyLookup; readonly development: boolean },
): SubmissionVerified {
  if (submission.envelope === undefined)
    return { ok: false, code: 'unsigned', message: 'the submission has no signature, so its requester is unknown' };
  const verified = verifyWithRegistry(submission.envelope, 'submission', {
    ...expected,
    keyKind: 'service',
    use: { right: 'submit', tenant: submission.tenant },
  });
  if (!verified.ok) return verified;
  const { predicate, key } = verified;
  if (predicate.changeId !== changeId(submission) || predicate.inputSha !== inputSha(submission)) {
    return { ok: false, code: 'wrong_change', message: 'the submission was signed for another change' };
  }
  const supersedes = submission.supersedes ?? null;
  if (predicate.supersedes !== supersedes)
    return {
      ok: false,
      code: 'wrong_change',
      message: `the submission supersedes ${supersedes ?? 'nothing'}, but was signed to supersede ${predicate.supersedes ?? 'nothing'}`,
    };
  if (predicate.onBehalfOf !== key.onBehalfOf) {
    return {
      ok: false,
      code: 'wrong_change',
      message: `signed on behalf of ${predicate.onBehalfOf ?? '(unset)'}, but the key is registered for ${key.onBehalfOf ?? '(unset)'}`,
    };
  }
  return { ok: true, requester: key.onBehalfOf, keyId: key.keyId };
}
