import type { Envelope } from '../../policy/contracts/diff';
import type { PolicyRevision, PolicyRevocation } from '../../policy/evidence/predicates';
import { signedByOperator } from '../../signing/signed-by';
import { verifiedRevision } from '../../signing/policy-revision';
import { misconfigured } from '../../policy/contracts/failure';
import type { Queryable } from '../database/database';
import { Plan } from '../../policy/contracts/plan';
import type { PolicyRevisions, StoredRevision, StoredRevocation } from './plan-source';
import type { OperatorKey } from '../../signing/operator-key';

/** Far more revocations than expected in practice. */
const MAX_REVOCATIONS = 1_000;

interface RevisionRow {
  readonly envelope: Envelope;
  readonly source: string;
  readonly published_at: Date;
}

function toStored({ envelope, source, published_at: at }: RevisionRow): StoredRevision {
  return { envelope, bundleText: source, storedAt: at.toISOString() };
}

/** Reads the tables `policy_revisions` and `policy_revocations`. Their contents are untrusted until checked by `operatorVerifier`. */
export function storedRevisions(db: Queryable): PolicyRevisions {
  return {
    async list() {
      const { rows } = await db.query<RevisionRow>(
        'select envelope, source, published_at from policy_revisions where envelope is not null order by revision desc limit 1000',
        [],
        'policy_revisions',
      );
      return rows.map(toStored);
    },
    async revocations() {
      const { rows } = await db.query<{ envelope: Envelope; revoked_at: Date }>(
        'select envelope, revoked_at from policy_revocations where envelope is not null limit $1',
        [MAX_REVOCATIONS + 1],
        'policy_revocations',
      );
      // Fail instead of truncating: a valid revocation could be hidden behind rows without a trusted signature.
      if (rows.length > MAX_REVOCATIONS)
        throw misconfigured(
          `policy_revocations: expected at most ${MAX_REVOCATIONS} rows, found more; find out who wrote them, because no plan is used until they are removed`,
        );
      return rows.map(({ envelope, revoked_at: at }) => ({ envelope, storedAt: at.toISOString() }));
    },
  };
}

/** Reads one revision and compiled plans. Untrusted as well: `planHash` binds a plan to the signed revision that lists it. */
export interface PublishedPolicies extends Pick<PolicyRevisions, 'revocations'> {
  revision(revision: number): Promise<StoredRevision | null>;
  /** Null if the plan is not stored, or is not a plan of this version. */
  plan(planHash: string): Promise<Plan | null>;
}

export function publishedPolicies(db: Queryable): PublishedPolicies {
  // Plans are large and never change.
  const plans = new Map<string, Plan>();
  return {
    revocations: () => storedRevisions(db).revocations(),
    async revision(revision) {
      const { rows } = await db.query<RevisionRow>(
        'select envelope, source, published_at from policy_revisions where revision = $1 and envelope is not null',
        [revision],
        'policy_revision',
      );
      return rows[0] === undefined ? null : toStored(rows[0]);
    },
    async plan(planHash) {
      const known = plans.get(planHash);
      if (known !== undefined) return known;
      const { rows } = await db.query<{ plan: string }>(
        'select plan from compiled_plans where plan_hash = $1',
        [planHash],
        'compiled_plan',
      );
      if (rows[0] === undefined) return null;
      const parsed = Plan.safeParse(JSON.parse(rows[0].plan));
      if (!parsed.success) return null;
      if (plans.size >= MAX_CACHED_PLANS) plans.clear();
      plans.set(planHash, parsed.data);
      return parsed.data;
    },
  };
}

const MAX_CACHED_PLANS = 100;

/** Verifies revisions and revocations with the operator keys that this process trusts. */
export function operatorVerifier(trustedOperators: readonly OperatorKey[]): {
  readonly verifyRevision: (stored: StoredRevision) => PolicyRevision | null;
  readonly verifyRevocation: (stored: StoredRevocation) => PolicyRevocation | null;
} {
  return {
    verifyRevision: ({ envelope, bundleText, storedAt }) =>
      verifiedRevision(envelope, bundleText, trustedOperators, storedAt),
    verifyRevocation: ({ envelope, storedAt }) =>
      signedByOperator('policy-revocation', envelope, trustedOperators, storedAt),
  };
}
