import type { Envelope } from '../../policy/contracts/diff';
import type { PolicyRevision, PolicyRevocation } from '../../policy/evidence/predicates';
import { verifyEnvelope } from '../../signing/envelope';
import { misconfigured } from '../../policy/contracts/failure';
import { sha256HexOfText } from '../../policy/contracts/hash';
import type { Queryable } from '../database/database';
import type { PolicyRevisions } from './plan-source';

/** More rows than anybody revokes. */
const MAX_REVOCATIONS = 1_000;

/** The tables `policy_revisions` and `policy_revocations`. What they hold is believed only after `operatorVerifier`. */
export function storedRevisions(db: Queryable): PolicyRevisions {
  return {
    async list() {
      const { rows } = await db.query<{ envelope: Envelope; source: string }>(
        'select envelope, source from policy_revisions where envelope is not null order by revision desc limit 1000',
      );
      return rows.map(({ envelope, source }) => ({ envelope, bundleText: source }));
    },
    async revocations() {
      const { rows } = await db.query<{ envelope: Envelope }>(
        'select envelope from policy_revocations where envelope is not null limit $1',
        [MAX_REVOCATIONS + 1],
      );
      // Cut short, a revocation that counts could lie under rows that nobody trusted signed.
      if (rows.length > MAX_REVOCATIONS)
        throw misconfigured(
          `policy_revocations: expected at most ${MAX_REVOCATIONS} rows, found more. Find out who wrote them; until then no plan is used`,
        );
      return rows.map(({ envelope }) => envelope);
    },
  };
}

/** SHA-256 of the bundle's text as published: what `bundleSha` binds. */
export function bundleShaOf(bundleText: string): string {
  return sha256HexOfText(bundleText);
}

/** Checks revisions and revocations against the operator keys that this process trusts, and nothing else. */
export function operatorVerifier(trustedOperators: readonly string[]): {
  readonly verifyRevision: (envelope: Envelope, bundleText: string) => PolicyRevision | null;
  readonly verifyRevocation: (envelope: Envelope) => PolicyRevocation | null;
} {
  return {
    verifyRevision(envelope, bundleText) {
      for (const key of trustedOperators) {
        const verified = verifyEnvelope(envelope, key, 'policy-revision');
        if (verified.ok && verified.predicate.bundleSha === bundleShaOf(bundleText)) return verified.predicate;
      }
      return null;
    },
    verifyRevocation(envelope) {
      for (const key of trustedOperators) {
        const verified = verifyEnvelope(envelope, key, 'policy-revocation');
        if (verified.ok) return verified.predicate;
      }
      return null;
    },
  };
}
