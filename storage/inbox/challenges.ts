import type { Queryable } from '../database/database';

export const CHALLENGE_MS = 2 * 60_000;
/** Of all people and gateways at once: anyone who reaches the gateway can ask for one. */
const MAX_CHALLENGES = 10_000;

export type ChallengePurpose = 'login' | 'enroll';

export interface NewChallenge {
  /** SHA-256 of the cookie of the browser that asked. */
  readonly cookieSha: string;
  readonly challenge: string;
  readonly purpose: ChallengePurpose;
  /** For an enrolment the id of the one-time key of the link; otherwise empty. */
  readonly subject: string;
}

/** Challenges that wait for their assertion. Each is used once, within two minutes, in the browser that asked for it. */
export interface ChallengeStore {
  /** False if too many wait. */
  add(challenge: NewChallenge): Promise<boolean>;
  /** Removes and returns the challenge; null if it does not exist, is too old, or is for another purpose. */
  take(
    cookieSha: string,
    purpose: ChallengePurpose,
  ): Promise<{ readonly challenge: string; readonly subject: string } | null>;
}

export function createChallengeStore(db: Queryable): ChallengeStore {
  const old = `created_at <= clock_timestamp() - interval '${CHALLENGE_MS} ms'`;
  return {
    async add({ cookieSha, challenge, purpose, subject }) {
      await db.query(`delete from inbox_challenges where ${old}`, [], 'inbox_old_challenges');
      const { rowCount } = await db.query(
        `insert into inbox_challenges (cookie_sha, challenge, purpose, subject) select $1, $2, $3, $4
         where (select count(*) from (select from inbox_challenges limit ${MAX_CHALLENGES}) c) < ${MAX_CHALLENGES}`,
        [cookieSha, challenge, purpose, subject],
      );
      return rowCount === 1;
    },

    async take(cookieSha, purpose) {
      const { rows } = await db.query<{ challenge: string; subject: string; purpose: string; late: boolean }>(
        `delete from inbox_challenges where cookie_sha = $1 returning challenge, subject, purpose, ${old} as late`,
        [cookieSha],
      );
      const [row] = rows;
      return row === undefined || row.late || row.purpose !== purpose
        ? null
        : { challenge: row.challenge, subject: row.subject };
    },
  };
}
