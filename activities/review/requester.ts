import { invalid, type CountersignFailure } from '../../policy/contracts/failure';
import type { Submission } from '../../policy/contracts/diff';
import { openingWarnings } from '../../policy/contracts/opening-warnings';
import type { Plan } from '../../policy/contracts/plan';
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

/** Null if unknown. */
export function personOf(requester: Requester): string | null {
  return requester.kind === 'known' ? requester.person : null;
}

export function refusedEnvelope(why: string): CountersignFailure {
  return invalid(
    'envelope',
    'a submission signed by a registered service key',
    `one that does not verify (${why})`,
    'Sign it again, or omit the envelope; four eyes then require two people',
  );
}

export function warningsOf(plan: Plan, requester: Requester): string[] {
  return openingWarnings(plan, {
    known: requester.kind === 'known',
    demo: requester.kind === 'known' && requester.demo,
    ...(requester.kind === 'unknown' ? { why: requester.why } : {}),
  });
}
