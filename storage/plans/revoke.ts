import { invalid } from '../../policy/contracts/failure';
import type { SigningKey } from '../../signing/keys';
import { signRevocation } from '../../signing/policy-revision';
import { databaseClock, type Database } from '../database/database';
import { newestRevision } from './newest-revision';
import { operatorVerifier, storedRevisions } from './stored-revisions';
import { canSign, type OperatorKey } from '../../signing/operator-key';

export interface Revocation {
  readonly revision: number;
  /** For people; signed. */
  readonly reason: string;
  readonly operator: SigningKey;
  readonly trustedOperators: readonly OperatorKey[];
}

export interface Revoked {
  /** False if a trusted operator had revoked it before. */
  readonly revoked: boolean;
  /** The newest revision that is not revoked, which new reviews use from now on; null if there is none. */
  readonly inForce: number | null;
}

/**
 * Writes the signed revocation of a revision. No process uses the revision from then on, and its open reviews end as `policy_moved`. Fails
 * with VALIDATION_ERROR, and writes nothing, if a trusted operator signed no such revision, or if the key is not of a trusted operator: the
 * processes would ignore that revocation.
 */
export async function revokeRevision(
  db: Database,
  { revision, reason, operator, trustedOperators }: Revocation,
): Promise<Revoked> {
  if (!canSign(trustedOperators, operator.publicKey, new Date()))
    throw invalid(
      'key',
      'the key of an operator in the trust file',
      operator.keyId,
      'Sign with a key that the processes trust',
    );
  return db.transaction(async (tx) => {
    // The lock that `publish_policy` takes, so that the revision in force is the one that is reported.
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('countersign/policy', 0))`);
    const { signed } = await newestRevision(tx, trustedOperators);
    const found = signed.find((each) => each.revision.revision === revision);
    if (found === undefined)
      throw invalid(
        'revision',
        `one that a trusted operator signed (${signed.map((each) => each.revision.revision).join(', ') || 'there is none'})`,
        String(revision),
        'Nothing was revoked. "countersign policy show" prints the one in force',
      );
    const { verifyRevocation } = operatorVerifier(trustedOperators);
    const before = await storedRevisions(tx).revocations();
    const revoked = !before.some((stored) => verifyRevocation(stored)?.revision === revision);
    if (revoked)
      await tx.query('insert into policy_revocations (envelope) values ($1)', [
        // Dated by the database: verifiers compare it with the time of a commit, and the operator's clock may be off.
        JSON.stringify(signRevocation(found.revision, reason, operator, await databaseClock(tx)())),
      ]);
    const { newest } = await newestRevision(tx, trustedOperators);
    return { revoked, inForce: newest?.revision.revision ?? null };
  });
}
