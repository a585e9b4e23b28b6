import type { Envelope } from '../../policy/contracts/diff';
import type { Plan } from '../../policy/contracts/plan';
import type { PolicyRevision, PolicyRevocation } from '../../policy/evidence/predicates';
import { misconfigured, policyMoved } from '../../policy/contracts/failure';

/** A revision as it is stored: nothing of it is believed before its signature is checked. */
export interface StoredRevision {
  readonly envelope: Envelope;
  readonly bundleText: string;
}

/** The tables that `countersign policy publish` writes; read by review worker and committer alike. */
export interface PolicyRevisions {
  /** Newest first, at most 1,000. */
  list(): Promise<readonly StoredRevision[]>;
  /** All of them, or it fails with CONFIGURATION_ERROR: of revocations none may be left out. */
  revocations(): Promise<readonly Envelope[]>;
}

export interface PinnedPlan {
  readonly plan: Plan;
  readonly planHash: string;
  readonly revision: number;
}

export interface PlanSourceDeps {
  readonly revisions: PolicyRevisions;
  /** Checks against this process's own trust root. Null: not signed by an operator key that it trusts. */
  readonly verifyRevision: (envelope: Envelope, bundleText: string) => PolicyRevision | null;
  readonly verifyRevocation: (envelope: Envelope) => PolicyRevocation | null;
  /** Throws CONFIGURATION_ERROR where the bundle does not compile here. */
  readonly compile: (
    bundleText: string,
    target: string,
    sourceTool: string,
  ) => { readonly plan: Plan; readonly planHash: string };
  readonly now: () => number;
}

/**
 * Where a process gets plans: from signed revisions only, compiled by itself.
 *
 * P1 A revision whose signature does not verify does not exist.
 * P2 A plan that does not compile to the hash which the operator signed is never used: the logic here is another one.
 * P3 A revoked revision gives no plan, to new reviews and to open ones (`policy_moved`). The committer, who is the last to
 *    look, reads revocations anew for each commit; everybody else within FRESH_MS.
 */
export interface PlanSource {
  /** The newest revision's plan. Fails with CONFIGURATION_ERROR where there is none for this target and tool. */
  current(target: string, sourceTool: string): Promise<PinnedPlan>;
  /**
   * The plan that an open review pinned. Fails with `policy_moved` where it is revoked or can no longer be recomputed.
   * `revocations`: as of at most a second ago, or read now. `revision`: the one that the review pinned; without it, the newest
   * that lists the plan.
   */
  byHash(planHash: string, revocations?: 'lately' | 'now', revision?: number): Promise<PinnedPlan>;
}

interface Verified {
  readonly revision: PolicyRevision;
  readonly bundleText: string;
}

const FRESH_MS = 1_000;

export function createPlanSource(deps: PlanSourceDeps): PlanSource {
  const compiled = new Map<string, PinnedPlan>();
  let snapshot: { readonly at: number; readonly usable: readonly Verified[] } | null = null;

  async function revokedNow(): Promise<ReadonlySet<number>> {
    const revocations = await deps.revisions.revocations();
    return new Set(revocations.flatMap((envelope) => deps.verifyRevocation(envelope)?.revision ?? []));
  }

  async function load(): Promise<NonNullable<typeof snapshot>> {
    if (snapshot !== null && deps.now() - snapshot.at < FRESH_MS) return snapshot;
    const [stored, revoked] = await Promise.all([deps.revisions.list(), revokedNow()]);
    const verified = stored.flatMap(({ envelope, bundleText }) => {
      const revision = deps.verifyRevision(envelope, bundleText);
      return revision === null ? [] : [{ revision, bundleText }];
    });
    verified.sort((a, b) => b.revision.revision - a.revision.revision);
    snapshot = { at: deps.now(), usable: verified.filter((v) => !revoked.has(v.revision.revision)) };
    return snapshot;
  }

  function compile({ revision, bundleText }: Verified, entry: PolicyRevision['plans'][number]): PinnedPlan {
    const known = compiled.get(entry.planHash);
    if (known !== undefined) return known;
    const made = deps.compile(bundleText, entry.target, entry.sourceTool);
    if (made.planHash !== entry.planHash) {
      throw policyMoved(
        `Revision ${revision.revision} was signed for plan ${entry.planHash}, and compiles here to ${made.planHash}: this process has other validators or another version. Publish the bundle again`,
      );
    }
    const pinned = { ...made, revision: revision.revision };
    compiled.set(entry.planHash, pinned);
    return pinned;
  }

  return {
    async current(target, sourceTool) {
      const { usable } = await load();
      const newest = usable[0];
      if (newest === undefined)
        throw misconfigured(
          'No policy revision signed by a trusted operator key is published; run "countersign policy publish"',
        );
      const entry = newest.revision.plans.find((p) => p.target === target && p.sourceTool === sourceTool);
      if (entry !== undefined) return compile(newest, entry);
      const offered = newest.revision.plans.map((p) => `${p.target}/${p.sourceTool}`).join(', ');
      throw misconfigured(
        `target, sourceTool: policy revision ${newest.revision.revision} has no plan for ${target}/${sourceTool}; it has ${offered}`,
        { target, sourceTool },
      );
    },

    async byHash(planHash, revocations = 'lately', revision) {
      const { usable } = await load();
      const revoked = revocations === 'now' ? await revokedNow() : null;
      for (const verified of usable) {
        if (revoked?.has(verified.revision.revision) === true) continue;
        if (revision !== undefined && verified.revision.revision !== revision) continue;
        const entry = verified.revision.plans.find((p) => p.planHash === planHash);
        if (entry !== undefined) return compile(verified, entry);
      }
      throw policyMoved(`Plan ${planHash} stands in no trusted, unrevoked policy revision; submit the change again`);
    },
  };
}
