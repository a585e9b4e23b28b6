import { Sha256Hex } from '../../policy/contracts/diff';
import type { ReviewProjection } from '../../policy/evidence/ledger-port';
import type { Queryable } from '../database/database';
import { Conditions, olderThan, SELECT_REVIEW, toReview, type ReviewRow } from '../ledger/reviews';

export const PAGE_SIZE = 50;
const MAX_TURN_COUNT = 1000;

/** Who looks, and what they may see. */
export interface Viewer {
  readonly person: string;
  /** Null: every tenant. */
  readonly tenants: readonly string[] | null;
  /** Groups of pinned plans that the person is a member of. */
  readonly groups: readonly PlanGroup[];
}

export interface PlanGroup {
  readonly planHash: string;
  readonly group: string;
}

export interface InboxFilter {
  readonly tab: 'turn' | 'waiting' | 'all';
  readonly tool?: string | undefined;
  readonly rule?: string | undefined;
  /** Ids of the keys with which the agent signs, and the person it may be. */
  readonly agent?: { readonly person: string; readonly keyIds: readonly string[] } | undefined;
  readonly tenant?: string | undefined;
  readonly minAgeSeconds?: number | undefined;
  readonly outcome?: string | undefined;
  readonly search?: string | undefined;
  readonly cursor?: string | undefined;
}

export interface Waiting {
  readonly rule: string;
  readonly since: string;
}

export interface InboxPage {
  readonly items: readonly (ReviewProjection & { readonly waitingFor: readonly Waiting[] })[];
  readonly next: string | null;
}

/** Lists of the inbox by indexes. Reviews of tenants that the viewer may not see are left out by each query. */
export interface InboxLists {
  page(viewer: Viewer, filter: InboxFilter): Promise<InboxPage>;
  /** At most MAX_TURN_COUNT. */
  turnCount(viewer: Viewer): Promise<number>;
  /** Groups of pinned plans for which a violation of an open review waits, at most 5,000. */
  waitingGroups(): Promise<readonly PlanGroup[]>;
}

/** A violation that waits for the viewer. Parameters: $1 person, $2 plan hashes, $3 group names. */
const WAITS = `v.open and v.need = 'human' and (v.plan_hash, v.group_name) in (select * from unnest($2::text[], $3::text[]))
  and cardinality(v.confirmed_by) < v.quorum and v.rejected_by = '{}' and not ($1 = any(v.confirmed_by))`;
const INTERVENTION = `r.state = 'INTERVENTION_REQUIRED' and r.closed_at is null`;
const WAITS_FOR_YOU = `exists (select from review_violations v where v.change_id = r.change_id and ${WAITS} and not (v.four_eyes and r.requester is not distinct from $1))`;

export function createInboxLists(db: Queryable): InboxLists {
  return {
    page: (viewer, filter) => readPage(db, viewer, filter),

    async turnCount(viewer) {
      if (viewer.groups.length === 0) return 0;
      const query = conditionsOf(viewer, undefined);
      const { rows } = await db.query<{ count: number }>(
        `select count(*)::int as count from (select from reviews r where ${query.after(tabCondition('turn', viewer))} limit ${MAX_TURN_COUNT}) c`,
        query.values,
      );
      return rows[0]?.count ?? 0;
    },

    async waitingGroups() {
      const { rows } = await db.query<{ plan_hash: string; group_name: string }>(
        `with recursive next as (
           (select plan_hash, group_name from review_violations where open and need = 'human' order by plan_hash, group_name limit 1)
           union all
           select v.plan_hash, v.group_name from next n cross join lateral
             (select plan_hash, group_name from review_violations where open and need = 'human'
              and (plan_hash, group_name) > (n.plan_hash, n.group_name) order by plan_hash, group_name limit 1) v
         ) select plan_hash, group_name from next limit 5000`,
        [],
        'inbox_groups',
      );
      return rows.map((row) => ({ planHash: row.plan_hash, group: row.group_name }));
    },
  };
}

/** After the three parameters of WAITS: the tenants that the viewer may see, and the wanted one of them. */
function conditionsOf({ person, groups, tenants }: Viewer, wanted: string | undefined): Conditions {
  const query = new Conditions([person, groups.map(({ planHash }) => planHash), groups.map(({ group }) => group)]);
  if (tenants !== null) query.add((p) => `r.tenant = any(${p}::text[])`, tenants);
  if (wanted !== undefined) query.add((p) => `r.tenant = ${p}`, wanted);
  return query;
}

async function readPage(db: Queryable, viewer: Viewer, filter: InboxFilter): Promise<InboxPage> {
  const query = conditionsOf(viewer, filter.tenant);
  addFilters(query, filter);
  const turn = filter.tab === 'turn';
  if (filter.cursor !== undefined) addCursor(query, filter.cursor, turn);
  const { rows } = await db.query<ReviewRow & { waits: Waiting[] | null }>(
    `select page.*, (select json_agg(json_build_object('rule', v.rule, 'since', v.since) order by v.since, v.rule) from review_violations v
       where ${String(turn)} and v.change_id = page.change_id and ${WAITS} and not (v.four_eyes and page.requester is not distinct from $1)) as waits
     from (${SELECT_REVIEW} where ${query.after(tabCondition(filter.tab, viewer))} order by ${order(turn)} limit ${PAGE_SIZE + 1}) page
     order by ${order(turn).replaceAll('r.', 'page.')}`,
    query.values,
  );
  const items = rows.slice(0, PAGE_SIZE).map((row) => ({
    ...toReview(row),
    waitingFor: (row.waits ?? []).map(({ rule, since }) => ({ rule, since: new Date(since).toISOString() })),
  }));
  const last = items.at(-1);
  if (rows.length <= PAGE_SIZE || last === undefined) return { items, next: null };
  return { items, next: `${(turn ? last.deadlineAt : last.openedAt) ?? 'none'}~${last.changeId}` };
}

function tabCondition(tab: InboxFilter['tab'], { groups }: Viewer): string {
  // The planner does not know that the lists are empty, and would look at each review.
  const turn = groups.length === 0 ? 'false' : WAITS_FOR_YOU;
  switch (tab) {
    case 'turn':
      return `${INTERVENTION} and ${turn}`;
    case 'waiting':
      return `${INTERVENTION} and not ${turn}`;
    case 'all':
      return 'true';
    default:
      return tab satisfies never;
  }
}

function order(turn: boolean): string {
  return turn ? 'r.deadline_at, r.change_id' : 'r.opened_at desc, r.change_id';
}

function addFilters(query: Conditions, { tool, rule, agent, minAgeSeconds, outcome, search }: InboxFilter): void {
  if (tool !== undefined) query.add((p) => `r.source_tool = ${p}`, tool);
  if (rule !== undefined)
    query.add(
      (p) => `exists (select from review_violations v where v.change_id = r.change_id and v.rule = ${p})`,
      rule,
    );
  if (agent !== undefined)
    query.add((p, q) => `(r.requester = ${p} or r.submitter = any(${q}::text[]))`, agent.person, agent.keyIds);
  if (minAgeSeconds !== undefined)
    query.add((p) => `r.opened_at <= clock_timestamp() - make_interval(secs => ${p})`, minAgeSeconds);
  if (outcome !== undefined) query.add((p) => `(r.state = ${p} or r.reason = ${p})`, outcome);
  if (search !== undefined) addSearch(query, search);
}

/** Words of the title, each by its beginning, or a prefix of the id. */
function addSearch(query: Conditions, search: string): void {
  const words = search.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const byId = /^[0-9a-f]{2,64}$/.test(search);
  const terms = words
    .slice(0, 10)
    .map((word) => `'${word}':*`)
    .join(' & ');
  const title = (p: string): string => `r.words @@ to_tsquery('simple', ${p})`;
  if (byId)
    query.add(
      (p, from, to) => `(${title(p)} or r.change_id between ${from} and ${to})`,
      terms,
      search.padEnd(64, '0'),
      search.padEnd(64, 'f'),
    );
  else if (words.length === 0) query.add((p) => `strpos(r.summary, ${p}) > 0`, search);
  else query.add(title, terms);
}

/** Throws RangeError for a text that is not `next` of an earlier page. */
function addCursor(query: Conditions, cursor: string, turn: boolean): void {
  const [text = '', changeId = ''] = cursor.split('~');
  // A Date, because JavaScript reads times that PostgreSQL does not. Not before 1970: PostgreSQL has no time before 4713 BC.
  const time = turn && text === 'none' ? 'infinity' : new Date(text);
  if ((time instanceof Date && !(time.getTime() >= 0)) || !Sha256Hex.safeParse(changeId).success)
    throw new RangeError('cursor: expected the value of `next` of the previous page');
  if (turn)
    query.add(
      (p, q) => `(coalesce(r.deadline_at, 'infinity'), r.change_id) > (${p}::timestamptz, ${q})`,
      time,
      changeId,
    );
  else query.add(olderThan, time, changeId);
}
