import { canonicalJson } from '../policy/contracts/canonical-json';
import type { Envelope } from '../policy/contracts/diff';
import { sha256HexOfText } from '../policy/contracts/hash';
import type { PolicyRevision } from '../policy/evidence/predicates';
import { signPredicate } from './envelope';
import type { SigningKey } from './keys';
import { signedByOperator } from './operator-verify';

/** SHA-256 of the published bundle text, signed as `bundleSha`. */
export function bundleShaOf(bundleText: string): string {
  return sha256HexOfText(bundleText);
}

export interface RevisionContent {
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
  const listed = plans.map(({ target, sourceTool, planHash }) => ({ target, sourceTool, planHash }));
  const bundleSha = bundleShaOf(bundleText);
  return signPredicate(
    'policy-revision',
    { revision, bundleSha, plans: listed, keyId: operator.keyId, issuedAt: now.toISOString() },
    operator,
  );
}

/** The revision that one of these operators signed for exactly this bundle; null if none did. */
export function verifiedRevision(
  envelope: Envelope,
  bundleText: string,
  operators: readonly string[],
): PolicyRevision | null {
  const revision = signedByOperator('policy-revision', envelope, operators);
  return revision?.bundleSha === bundleShaOf(bundleText) ? revision : null;
}

/** Whether a revision has this bundle and these plans. */
export function isSameRevision(revision: PolicyRevision, { bundleText, plans }: RevisionContent): boolean {
  const listed = plans.map(({ target, sourceTool, planHash }) => ({ target, sourceTool, planHash }));
  return revision.bundleSha === bundleShaOf(bundleText) && canonicalJson(revision.plans) === canonicalJson(listed);
}
