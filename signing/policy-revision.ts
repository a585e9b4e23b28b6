import { canonicalJson } from '../policy/contracts/canonical-json';
import type { Envelope } from '../policy/contracts/diff';
import { sha256HexOfText } from '../policy/contracts/hash';
import type { PolicyRevision } from '../policy/evidence/predicates';
import { signPredicate } from './envelope';
import type { SigningKey } from './keys';
import { signedByOperator } from './signed-by';
import type { OperatorKey } from './operator-key';

/** SHA-256 of the published bundle text, signed as `bundleSha`. */
function bundleShaOf(bundleText: string): string {
  return sha256HexOfText(bundleText);
}

interface RevisionContent {
  readonly bundleText: string;
  readonly plans: readonly PolicyRevision['plans'][number][];
}

/** Signs revision number `revision` of the policy. */
export function signRevision(
  revision: number,
  { bundleText, plans }: RevisionContent,
  operator: SigningKey,
  now: Date,
): Envelope {
  const issuedAt = now.toISOString();
  const predicate = {
    revision,
    bundleSha: bundleShaOf(bundleText),
    plans: listed(plans),
    keyId: operator.keyId,
    issuedAt,
  };
  return signPredicate('policy-revision', predicate, operator);
}

/** Signs that a revision of the policy is not to be used any more. */
export function signRevocation(
  { revision, bundleSha }: Pick<PolicyRevision, 'revision' | 'bundleSha'>,
  reason: string,
  operator: SigningKey,
  now: Date,
): Envelope {
  const predicate = { revision, bundleSha, reason, keyId: operator.keyId, revokedAt: now.toISOString() };
  return signPredicate('policy-revocation', predicate, operator);
}

/** The revision that one of these operators signed for exactly this bundle; null if none did. `storedAt` as for `signedBy`. */
export function verifiedRevision(
  envelope: Envelope,
  bundleText: string,
  operators: readonly OperatorKey[],
  storedAt: string | null = null,
): PolicyRevision | null {
  const revision = signedByOperator('policy-revision', envelope, operators, storedAt);
  return revision?.bundleSha === bundleShaOf(bundleText) ? revision : null;
}

/** Whether a revision has this bundle and these plans. */
export function isSameRevision(revision: PolicyRevision, { bundleText, plans }: RevisionContent): boolean {
  return (
    revision.bundleSha === bundleShaOf(bundleText) && canonicalJson(revision.plans) === canonicalJson(listed(plans))
  );
}

/** The members of the plans that a revision lists. */
function listed(plans: RevisionContent['plans']): PolicyRevision['plans'] {
  return plans.map(({ target, sourceTool, planHash }) => ({ target, sourceTool, planHash }));
}
