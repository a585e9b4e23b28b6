import type { Queryable } from '../database/database';

/** Newest reviews, violations and answers that are counted, so that the time of each query is bounded. */
const MAX_COUNTED = 100_000;
const MAX_ROWS = 200;
/** Confirmed faster than anyone can read a change. */
const FAST_SECONDS = 5;

interface ReviewNumbers {
  readonly reviews: number;
  readonly committed: number;
  readonly rolledBack: number;
  readonly expired: number;
  readonly refusals: number;
}

export interface AnswerNumbers {
  /** Null: of all rules, or all groups. */
  readonly name: string | null;
  readonly answers: number;
  readonly confirmed: number;
  readonly rejected: number;
  readonly medianSeconds: number | null;
  /** Share of the confirmations, 0 to 1. */
  readonly confirmedFast: number | null;
}

export interface AskedNumbers {
  readonly rule: string;
  readonly asked: number;
  readonly expired: number;
}

/** Figures of the last days. By rule and by group, never by person: the queries do not read who answered. */
export interface InboxNumbers {
  reviews(tenants: readonly string[] | null, days: number): Promise<ReviewNumbers>;
  answers(
    by: 'all' | 'rule' | 'group',
    tenants: readonly string[] | null,
    days: number,
  ): Promise<readonly AnswerNumbers[]>;
  asked(tenants: readonly string[] | null, days: number): Promise<readonly AskedNumbers[]>;
}

/** $1: tenants or null; $2: days. */
const scope = (table: string, time: string): string =>
  `($1::text[] is null or ${table}.tenant = any($1)) and ${table}.${time} > clock_timestamp() - make_interval(days => $2)`;
const NAMES = { all: 'null::text', rule: 'a.rule', group: 'a.group_name' } as const;

export function createInboxNumbers(db: Queryable): InboxNumbers {
  return {
    async reviews(tenants, days) {
      const { rows } = await db.query<ReviewNumbers>(
        `with counted as (select change_id, state, reason from reviews r where ${scope('r', 'opened_at')} order by opened_at desc limit ${MAX_COUNTED})
         select count(*)::int as reviews, count(*) filter (where state = 'COMMITTED')::int as committed,
                count(*) filter (where state = 'ROLLED_BACK')::int as "rolledBack", count(*) filter (where reason = 'expired')::int as expired,
                coalesce(sum((select count(*) from ledger l where l.change_id = c.change_id and l.kind in ('answer_refused', 'refused'))), 0)::int as refusals
         from counted c`,
        [tenants, days],
      );
      return rows[0] ?? { reviews: 0, committed: 0, rolledBack: 0, expired: 0, refusals: 0 };
    },

    async answers(by, tenants, days) {
      const { rows } = await db.query<AnswerNumbers>(
        `with counted as (select * from review_answers a where ${scope('a', 'at')} order by at desc limit ${MAX_COUNTED})
         select ${NAMES[by]} as name, count(*)::int as answers, count(*) filter (where decision = 'confirm')::int as confirmed,
                count(*) filter (where decision = 'reject')::int as rejected,
                percentile_cont(0.5) within group (order by seconds) as "medianSeconds",
                count(*) filter (where decision = 'confirm' and seconds <= ${FAST_SECONDS})::float8
                  / nullif(count(*) filter (where decision = 'confirm'), 0) as "confirmedFast"
         from counted a where decision <> 'retract' ${by === 'all' ? '' : `group by ${NAMES[by]} order by answers desc, name limit ${MAX_ROWS}`}`,
        [tenants, days],
      );
      return rows;
    },

    async asked(tenants, days) {
      const { rows } = await db.query<AskedNumbers>(
        `with counted as (select rule, change_id from review_violations v where ${scope('v', 'since')} and v.need = 'human' order by since desc limit ${MAX_COUNTED})
         select rule, count(*)::int as asked, count(*) filter (where r.reason = 'expired')::int as expired
         from counted c join reviews r on r.change_id = c.change_id group by rule order by asked desc, rule limit ${MAX_ROWS}`,
        [tenants, days],
      );
      return rows;
    },
  };
}
