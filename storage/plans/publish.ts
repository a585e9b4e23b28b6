import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { Plan } from '../../policy/contracts/plan';
import type { PolicyRevision } from '../../policy/evidence/predicates';
import { signPredicate } from '../../signing/envelope';
import type { SigningKey } from '../../signing/keys';
import type { Database } from '../database/database';
import { bundleShaOf } from './stored-revisions';

export interface Publication {
  readonly bundleText: string;
  /** All plans of the bundle, compiled by this process. */
  readonly plans: readonly (PolicyRevision['plans'][number] & { readonly plan: Plan })[];
  readonly operator: SigningKey;
  readonly now: Date;
}

/**
 * Writes a signed revision of the bundle. The review worker and the committer use it for new reviews; open reviews keep their
 * pinned plan. The compiled plans are kept as well, so that processes without the bundle's extensions can show and export
 * reviews; their hashes are signed. Publishing the same bundle with the same plans as the newest revision is a no-op and returns that revision.
 */
export async function publishBundle(
  db: Database,
  publication: Publication,
): Promise<{ readonly revision: number; readonly published: boolean }> {
  const { bundleText, operator, now } = publication;
  const plans = publication.plans.map(({ target, sourceTool, planHash }) => ({ target, sourceTool, planHash }));
  const bundleSha = bundleShaOf(bundleText);
  return db.transaction(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('countersign/policy', 0))`);
    for (const { planHash, plan } of publication.plans)
      await tx.query('insert into compiled_plans (plan_hash, plan) values ($1, $2) on conflict do nothing', [
        planHash,
        canonicalJson(plan),
      ]);
    const { rows } = await tx.query<{ revision: number; envelope: { payload: string } }>(
      'select revision, envelope from policy_revisions order by revision desc limit 1',
    );
    const newest = rows[0];
    if (newest !== undefined && isSamePublication(newest.envelope.payload, bundleSha, plans))
      return { revision: newest.revision, published: false };
    const revision = (newest?.revision ?? 0) + 1;
    const envelope = signPredicate(
      'policy-revision',
      { revision, bundleSha, plans, keyId: operator.keyId, issuedAt: now.toISOString() },
      operator,
    );
    await tx.query('insert into policy_revisions (revision, bundle_sha, source, envelope) values ($1, $2, $3, $4)', [
      revision,
      bundleSha,
      bundleText,
      JSON.stringify(envelope),
    ]);
    return { revision, published: true };
  });
}

function isSamePublication(payload: string, bundleSha: string, plans: PolicyRevision['plans']): boolean {
  const { predicate } = JSON.parse(Buffer.from(payload, 'base64').toString('utf8')) as { predicate: PolicyRevision };
  // The signed text is canonical, with sorted members.
  return predicate.bundleSha === bundleSha && canonicalJson(predicate.plans) === canonicalJson(plans);
}
