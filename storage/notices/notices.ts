import type { Database, Queryable } from '../database/database';

export type NoticeEvent = 'waiting' | 'reminder' | 'escalation' | 'ended';

/** A notice to send. Added once: the same members again are a no-op. */
export interface NewNotice {
  readonly changeId: string;
  readonly event: NoticeEvent;
  /** Number of the reminder, from 1; 0 for other events. */
  readonly n: number;
  /** The group that is notified. */
  readonly team: string;
  readonly channel: string;
  /** Mail address; '' for channels with a single receiver. */
  readonly recipient: string;
  /** JSON. */
  readonly body: string;
}

export interface ClaimedNotice extends NewNotice {
  readonly id: string;
  /** Includes this attempt. */
  readonly attempts: number;
}

/** Receiver of notices that are sent together. */
export interface NoticeQueue {
  readonly channel: string;
  readonly recipient: string;
}

/** A review whose notices are due for another look. */
export interface NoticeLook {
  readonly changeId: string;
  readonly closed: boolean;
}

/** A claimed notice becomes due again after this time if its worker dies before it reports. */
const CLAIM_SECONDS = 300;

export interface NoticeStore {
  /** Waiting reviews whose time of the next look has come, and reviews that ended since. Those that were never looked at come first. */
  looks(limit: number): Promise<readonly NoticeLook[]>;
  /** Adds notices and sets the next look; null: not before the review ends, or if it had ended at this look, never. One transaction. */
  planned(look: NoticeLook, notices: readonly NewNotice[], nextLookAt: Date | null): Promise<void>;
  /** Channels and teams that were notified that this review waits. */
  notified(changeId: string): Promise<readonly Pick<NewNotice, 'team' | 'channel' | 'recipient'>[]>;
  /** Drops what is due for reviews that ended, except the notice of their end. */
  dropEnded(): Promise<void>;
  /**
   * Those that wait longest come first, the first of each channel before the others. Left out is what was sent a notice in the last
   * `apartMs`, except in the channels `except`.
   */
  dueQueues(
    limit: number,
    apart: { readonly apartMs: number; readonly except: readonly string[] },
  ): Promise<readonly NoticeQueue[]>;
  /** Claims due notices of one queue, oldest first. No other worker gets them while the claim lasts. */
  claim(queue: NoticeQueue, limit: number): Promise<readonly ClaimedNotice[]>;
  sent(ids: readonly string[]): Promise<void>;
  /** Due again after `retryInSeconds`, or failed for good if that is null. */
  notSent(ids: readonly string[], problem: string, retryInSeconds: number | null): Promise<void>;
}

export function noticeStore(db: Database): NoticeStore {
  return {
    looks: (limit) => looks(db, limit),
    planned: (look, notices, nextLookAt) =>
      db.transaction(async (tx) => {
        for (const notice of notices) await add(tx, notice);
        await tx.query(
          // A review can end while its notices are planned: it is then looked at again, for the notice of its end.
          `update notice_looks set ended = $3 and $2::timestamptz is null,
                  look_at = case when closed and not $3 then now() else coalesce($2::timestamptz, 'infinity') end
           where change_id = $1`,
          [look.changeId, nextLookAt, look.closed],
        );
      }),
    async notified(changeId) {
      const { rows } = await db.query<{ team: string; channel: string; recipient: string }>(
        `select distinct team, channel, recipient from notices where change_id = $1 and event <> 'ended' and state <> 'dropped'`,
        [changeId],
      );
      return rows;
    },
    async dropEnded() {
      await db.query(
        `update notices n set state = 'dropped' from reviews r
         where n.state = 'due' and n.event <> 'ended' and r.change_id = n.change_id and r.closed_at is not null`,
      );
    },
    dueQueues: (limit, apart) => dueQueues(db, limit, apart),
    claim: (queue, limit) => claim(db, queue, limit),
    async sent(ids) {
      await db.query(
        `update notices set state = 'sent', sent_at = now(), problem = null where id = any($1::bigint[])`,
        [ids],
      );
    },
    async notSent(ids, problem, retryInSeconds) {
      await db.query(
        `update notices set problem = $2, state = case when $3::float8 is null then 'failed' else 'due' end,
                next_at = now() + coalesce($3::float8, 0) * interval '1 second'
         where id = any($1::bigint[])`,
        // PostgreSQL text cannot contain NUL, which a mail server may send in its reply.
        [ids, problem.slice(0, 500).replaceAll('\0', '\u2400'), retryInSeconds],
      );
    },
  };
}

async function looks(db: Queryable, limit: number): Promise<readonly NoticeLook[]> {
  const { rows } = await db.query<{ change_id: string; closed: boolean }>(
    `select l.change_id, r.closed_at is not null as closed from notice_looks l join reviews r using (change_id)
     where l.look_at <= now() and not l.ended and (r.closed_at is not null or r.state = 'INTERVENTION_REQUIRED')
     order by l.look_at, l.change_id limit $1`,
    [limit],
  );
  return rows.map(({ change_id, closed }) => ({ changeId: change_id, closed }));
}

async function add(tx: Queryable, notice: NewNotice): Promise<void> {
  const { changeId, event, n, team, channel, recipient, body } = notice;
  await tx.query(
    `insert into notices (change_id, event, n, team, channel, recipient, body) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict do nothing`,
    [changeId, event, n, team, channel, recipient, body],
  );
}

async function dueQueues(
  db: Queryable,
  limit: number,
  { apartMs, except }: Parameters<NoticeStore['dueQueues']>[1],
): Promise<readonly NoticeQueue[]> {
  const { rows } = await db.query<{ channel: string; recipient: string }>(
    `select d.channel, d.recipient
     from (select channel, recipient, min(next_at) as first from notices where state = 'due' and next_at <= now()
           group by channel, recipient) d
     where d.channel = any($3) or not exists (
       select from notices s where s.state = 'sent' and s.channel = d.channel and s.recipient = d.recipient
       and s.sent_at > now() - $2::float8 * interval '1 millisecond')
     order by row_number() over (partition by d.channel order by d.first), d.first limit $1`,
    [limit, apartMs, except],
  );
  return rows;
}

async function claim(
  db: Queryable,
  { channel, recipient }: NoticeQueue,
  limit: number,
): Promise<readonly ClaimedNotice[]> {
  const { rows } = await db.query<{
    id: string;
    change_id: string;
    event: NoticeEvent;
    n: number;
    team: string;
    body: string;
    attempts: number;
  }>(
    `update notices set next_at = now() + ${CLAIM_SECONDS} * interval '1 second', attempts = attempts + 1
     where id in (select id from notices where state = 'due' and channel = $1 and recipient = $2 and next_at <= now()
                  order by id limit $3 for update skip locked)
     returning id, change_id, event, n, team, body, attempts`,
    [channel, recipient, limit],
  );
  return rows
    .map(({ change_id, ...row }) => ({ ...row, changeId: change_id, channel, recipient }))
    .sort((a, b) => Number(BigInt(a.id) - BigInt(b.id)));
}
