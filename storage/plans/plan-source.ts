import type { Envelope } from '../../policy/contracts/diff';
import type { Plan } from '../../policy/contracts/plan';
import type { PolicyRevision, PolicyRevocation } from '../../policy/evidence/predicates';
import { misconfigured, policyMoved } from '../../policy/contracts/failure';

/** A stored revision. Untrusted until its signature is verified. */
export interface StoredRevision {
  readonly envelope: Envelope;
  readonly bundleText: string;
  /** When the database wrote its row, ISO 8601. */
  readonly storedAt: string;
}

/** A stored revocation of a revision. Untrusted until its signature is verified. */
export type StoredRevocation = Pick<StoredRevision, 'envelope' | 'storedAt'>;

/** The tables written by `countersign policy publish`, and read by the review worker and the committer. */
export interface PolicyRevisions {
  /** Newest first, at most 1,000. */
  list(): Promise<readonly StoredRevision[]>;
  /** All revocations. Fails with CONFIGURATION_ERROR if they cannot all be returned, because none may be missed. */
  revocations(): Promise<readonly StoredRevocation[]>;
}

export interface PinnedPlan {
  readonly plan: Plan;
  readonly planHash: string;
  readonly revision: number;
}

export interface PlanSourceDeps {
  readonly revisions: PolicyRevisions;
  /** Verifies with the operator keys that this process trusts. Null if none of them signed it. */
  readonly verifyRevision: (stored: StoredRevision) => PolicyRevision | null;
  readonly verifyRevocation: (stored: StoredRevocation) => PolicyRevocation | null;
  /** Throws CONFIGURATION_ERROR if the bundle does not compile in this process. */
  readonly compile: (
    bundleText: string,
    target: string,
    sourceTool: string,
  ) => { readonly plan: Plan; readonly planHash: string };
  readonly now: () => number;
}

/**
 * Gives a process its plans. They come only from signed revisions and are compiled by the process itself.
 *
 * P1 A revision without a valid signature is ignored.
 * P2 A plan is never used unless it compiles to the hash that the operator signed: another hash means other rule logic.
 * P3 A revoked revision gives no plan, neither to new reviews nor to open ones (`policy_moved`). The committer makes the last check
 *    and reads revocations for each commit; other processes may cache them for FRESH_MS.
 * P4 A plan is refused only after the revisions were read anew: another process may have opened the review with a revision that was
 *    published after this process last read them.
 */
export interface PlanSource {
  /** Plan of the newest revision. Fails with CONFIGURATION_ERROR if it has none for this target and tool. */
  current(target: string, sourceTool: string): Promise<PinnedPlan>;
  /**
   * The plan that an open review pinned. Fails with `policy_moved` if it was revoked or can no longer be recomputed.
   * `revocations`: `lately` uses revocations that are at most a second old, `now` reads them, `ignored` also returns a revoked plan, to
   * describe a review that ends. `revision`: the one that the review pinned; by default the newest that lists the plan.
   */
  byHash(planHash: string, revocations?: 'lately' | 'now' | 'ignored', revision?: number): Promise<PinnedPlan>;
}

/** A revision that a trusted operator signed. */
export interface TrustedRevision extends StoredRevision {
  readonly revision: PolicyRevision;
}

/** The revisions that a trusted operator signed, newest first. */
export function trustedRevisions(
  stored: readonly StoredRevision[],
  verifyRevision: PlanSourceDeps['verifyRevision'],
): readonly TrustedRevision[] {
  return stored
    .flatMap((each) => {
      const revision = verifyRevision(each);
      return revision === null ? [] : [{ ...each, revision }];
    })
    .sort((a, b) => b.revision.revision - a.revision.revision);
}

/** The numbers of the revisions that a trusted operator revoked. */
export function revokedRevisions(
  revocations: readonly StoredRevocation[],
  verifyRevocation: PlanSourceDeps['verifyRevocation'],
): ReadonlySet<number> {
  return new Set(revocations.flatMap((stored) => verifyRevocation(stored)?.revision ?? []));
}

interface Snapshot {
  readonly at: number;
  /** Newest first. */
  readonly signed: readonly TrustedRevision[];
  readonly usable: readonly TrustedRevision[];
}

/** Before or after the time of the reading: the clock can have been set back since. */
const FRESH_MS = 1_000;

export function createPlanSource(deps: PlanSourceDeps): PlanSource {
  const compiled = new Map<string, ReturnType<PlanSourceDeps['compile']>>();
  let snapshot: Snapshot | null = null;

  async function revokedNow(): Promise<ReadonlySet<number>> {
    return revokedRevisions(await deps.revisions.revocations(), deps.verifyRevocation);
  }

  function fresh(): Snapshot | null {
    return snapshot !== null && Math.abs(deps.now() - snapshot.at) < FRESH_MS ? snapshot : null;
  }

  async function read(): Promise<Snapshot> {
    // Before the reads: a revocation that commits while they run may not be among what they return.
    const at = deps.now();
    const [stored, revoked] = await Promise.all([deps.revisions.list(), revokedNow()]);
    const signed = trustedRevisions(stored, deps.verifyRevision);
    const usable = signed.filter(({ revision }) => !revoked.has(revision.revision));
    snapshot = { at, signed, usable };
    return snapshot;
  }

  function compile({ revision, bundleText }: TrustedRevision, entry: PolicyRevision['plans'][number]): PinnedPlan {
    const known = compiled.get(entry.planHash);
    // Several revisions may have this plan, for example if a bundle is published again after another one.
    if (known !== undefined) return { ...known, revision: revision.revision };
    const plan = deps.compile(bundleText, entry.target, entry.sourceTool);
    if (plan.planHash !== entry.planHash) {
      throw policyMoved(
        `Policy revision ${revision.revision} was signed for plan ${entry.planHash} but compiles to ${plan.planHash} in this process, which has other validators or another version; publish the bundle again`,
      );
    }
    compiled.set(entry.planHash, plan);
    return { ...plan, revision: revision.revision };
  }

  return {
    async current(target, sourceTool) {
      const { usable } = fresh() ?? (await read());
      const newest = usable[0];
      if (newest === undefined)
        throw misconfigured(
          'No policy revision signed by a trusted operator key is published; run "countersign policy publish"',
        );
      const entry = newest.revision.plans.find((p) => p.target === target && p.sourceTool === sourceTool);
      if (entry !== undefined) return compile(newest, entry);
      // An agent of any tenant reads this message, so it names no other target.
      const tools = newest.revision.plans.filter((p) => p.target === target).map((p) => p.sourceTool);
      const field = tools.length === 0 ? 'target' : 'sourceTool';
      const instead =
        field === 'target'
          ? `it does not have the target ${target}; ask an operator, who sees all with "countersign policy show"`
          : `for ${target}, it expects one of ${tools.join(', ')}`;
      throw misconfigured(
        `${field}: policy revision ${newest.revision.revision} has no plan for ${target}/${sourceTool}: ${instead}`,
        { field, target, sourceTool },
      );
    },

    async byHash(planHash, revocations = 'lately', revision) {
      const revoked = revocations === 'now' ? await revokedNow() : null;
      const search = ({ signed, usable }: Snapshot): PinnedPlan | null => {
        for (const verified of revocations === 'lately' ? usable : signed) {
          if (revoked?.has(verified.revision.revision) === true) continue;
          if (revision !== undefined && verified.revision.revision !== revision) continue;
          const entry = verified.revision.plans.find((p) => p.planHash === planHash);
          if (entry !== undefined) return compile(verified, entry);
        }
        return null;
      };
      // Revisions are only added. So an older snapshot serves if its revocations are not used.
      const cached = revocations === 'lately' ? fresh() : snapshot;
      const found = (cached === null ? null : search(cached)) ?? search(await read());
      if (found !== null) return found;
      throw policyMoved(
        `Plan ${planHash} is not in any trusted policy revision that is not revoked; submit the change again`,
      );
    },
  };
}
