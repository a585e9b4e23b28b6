import type { PlanGroup, Viewer } from '../../storage/inbox/review-list';
import { FreshReading } from '../fresh-reading';
import type { InboxDeps } from './deps';
import { tenantsOf, type Session } from './session';

const FRESH_MS = 1_000;

/** Finds the groups of a person, in the pinned plans that open reviews wait for. Plans never change, so only their list is read again. */
export class Viewers {
  readonly #groups = new Map<string, ReadonlyMap<string, readonly string[]> | null>();
  readonly #waiting: FreshReading<readonly PlanGroup[]>;

  constructor(
    private readonly deps: Pick<InboxDeps, 'lists' | 'groupsOf'>,
    now: () => number,
  ) {
    this.#waiting = new FreshReading(() => deps.lists.waitingGroups(), FRESH_MS, now);
  }

  async of(session: Session): Promise<Viewer> {
    const groups: PlanGroup[] = [];
    for (const waiting of await this.#waiting.get())
      if ((await this.#membersOf(waiting)).includes(session.person)) groups.push(waiting);
    return { person: session.person, tenants: tenantsOf(session), groups };
  }

  /** Empty for a plan that cannot be recomputed: its answers would be refused. */
  async #membersOf({ planHash, group }: PlanGroup): Promise<readonly string[]> {
    let groups = this.#groups.get(planHash);
    if (groups === undefined) {
      groups = await this.deps.groupsOf(planHash);
      if (groups !== null) this.#groups.set(planHash, groups);
    }
    return groups?.get(group) ?? [];
  }
}
