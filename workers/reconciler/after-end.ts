import type { Queryable } from '../../storage/database/database';
import type { Suspects } from './suspects';

const MAX_READ = 1_000;
const MAX_WATCHED = 1_000;
const MAX_PER_PASS = 100;
/** Committers have different clocks, and a row can become visible after one with a later time. */
const OVERLAP_MS = 60_000;
/** A workflow usually ends within a second after its review. */
const USUAL_MS = 10_000;
/** After a start, what ended in this time is looked at once. */
const FIRST_LOOK_BACK_MS = 60 * 60_000;

interface ClosedRow {
  change_id: string;
  closed_at: Date;
}

interface Watched {
  readonly closedAt: number;
  /** Whether `next` has returned it: then only `forget` removes it, because the server also lists a run that was reset as ended. */
  readonly looked: boolean;
}

/**
 * Reviews that have ended, but whose workflows the server has not listed as ended. Almost all leave this list with the next pass. It is
 * in memory: after a start it begins with the reviews of the last hour.
 */
export class AfterEnd {
  readonly #watched = new Map<string, Watched>();
  #from = Date.now() - FIRST_LOOK_BACK_MS;

  /** The reviews to look at, at most 100, those first that were not looked at for longest. */
  async next(db: Queryable, listed: Suspects): Promise<readonly string[]> {
    await this.#readClosed(db);
    await this.#readFailing(db, listed.failing);
    for (const changeId of listed.ended)
      if (this.#watched.get(changeId)?.looked === false) this.#watched.delete(changeId);
    const due = [...this.#watched].filter(([, { closedAt }]) => Date.now() - closedAt > USUAL_MS);
    const next = due.slice(0, MAX_PER_PASS);
    for (const [changeId, { closedAt }] of next) {
      this.#watched.delete(changeId);
      this.#watched.set(changeId, { closedAt, looked: true });
    }
    return next.map(([changeId]) => changeId);
  }

  has(changeId: string): boolean {
    return this.#watched.has(changeId);
  }

  /** Its workflow has ended. */
  forget(changeId: string): void {
    this.#watched.delete(changeId);
  }

  /** Also those that ended longer ago, if the server reports that their workflows fail. */
  async #readFailing(db: Queryable, failing: ReadonlySet<string>): Promise<void> {
    if (failing.size === 0) return;
    const { rows } = await db.query<ClosedRow>(
      `select change_id, closed_at from reviews where closed_at is not null and change_id = any($1)`,
      [[...failing]],
    );
    this.#watch(rows);
  }

  async #readClosed(db: Queryable): Promise<void> {
    const { rows } = await db.query<ClosedRow>(
      `select change_id, closed_at from reviews where closed_at >= $1 order by closed_at limit ${MAX_READ}`,
      [new Date(this.#from)],
    );
    const taken = this.#watch(rows);
    const isAll = taken === rows.length && rows.length < MAX_READ;
    const next = isAll ? Date.now() - OVERLAP_MS : rows[taken - 1]?.closed_at.getTime();
    this.#from = Math.max(this.#from, next ?? 0);
  }

  /** Returns how many of the rows have a place in the list; the others are read again later. */
  #watch(rows: readonly ClosedRow[]): number {
    for (const [i, { change_id, closed_at }] of rows.entries()) {
      if (this.#watched.has(change_id)) continue;
      if (this.#watched.size >= MAX_WATCHED) return i;
      this.#watched.set(change_id, { closedAt: closed_at.getTime(), looked: false });
    }
    return rows.length;
  }
}
