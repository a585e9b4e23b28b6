import { createChallengeStore, type ChallengeStore } from '../../../storage/inbox/challenges';
import { createSessionStore, type SessionStore } from '../../../storage/inbox/sessions';
import type { Database } from '../../../storage/database/database';
import { useDatabase } from '../../support/postgres';

const sha = (n: number): string => n.toString(16).padStart(64, '0');
const ALICE = { keyId: 'key-a', person: 'alice' };

const database = useDatabase();
let admin: Database;
let sessions: SessionStore;
let challenges: ChallengeStore;
beforeAll(async () => {
  admin = database.open('admin');
  sessions = createSessionStore(database.open('cs_gateway'));
  challenges = createChallengeStore(database.open('cs_gateway'));
});
beforeEach(async () => {
  await admin.query('delete from inbox_sessions');
  await admin.query('delete from inbox_challenges');
});

describe('a session', () => {
  it('is found by its digest in every gateway until it is ended', async () => {
    const { expiresAt } = await sessions.create(sha(1), ALICE);
    expect(expiresAt - Date.now()).toBeGreaterThan(7.9 * 3_600_000);
    const other = createSessionStore(database.open('cs_gateway'));
    expect(await other.find(sha(1), true)).toEqual({ ...ALICE, expiresAt });
    expect(await other.find(sha(2), true)).toBeNull();
    await other.end(sha(1));
    expect(await sessions.find(sha(1), true)).toBeNull();
  });

  it('ends after 15 minutes without use, and after 8 hours in any case', async () => {
    for (const [moved, found] of [
      ["seen_at = clock_timestamp() - interval '14 minutes'", true],
      ["seen_at = clock_timestamp() - interval '15 minutes 1 second'", false],
      ["created_at = clock_timestamp() - interval '7 hours 59 minutes'", true],
      ["created_at = clock_timestamp() - interval '8 hours 1 second'", false],
    ] as const) {
      await sessions.create(sha(1), ALICE);
      await admin.query(`update inbox_sessions set ${moved}`);
      expect((await sessions.find(sha(1), false)) !== null).toBe(found);
      await sessions.end(sha(1));
    }
  });

  it('stays in use by requests of the person, and not by an event stream', async () => {
    await sessions.create(sha(1), ALICE);
    const idle = async (): Promise<number> => {
      const { rows } = await admin.query<{ ms: number }>(
        'select extract(epoch from clock_timestamp() - seen_at)::float8 * 1000 as ms from inbox_sessions',
      );
      return rows[0]?.ms ?? NaN;
    };
    await admin.query("update inbox_sessions set seen_at = clock_timestamp() - interval '10 minutes'");
    await sessions.find(sha(1), false);
    expect(await idle()).toBeGreaterThan(590_000);
    await sessions.find(sha(1), true);
    expect(await idle()).toBeLessThan(60_000);
  });

  it('is one of at most ten of a person: the oldest ends', async () => {
    await sessions.create(sha(100), { keyId: 'key-b', person: 'bob' });
    for (let n = 1; n <= 11; n++) await sessions.create(sha(n), ALICE);
    expect(await sessions.find(sha(1), false)).toBeNull();
    for (const n of [2, 11, 100]) expect(await sessions.find(sha(n), false)).not.toBeNull();
  });
});

describe('a challenge', () => {
  const login = { cookieSha: sha(1), challenge: 'abc', purpose: 'login', subject: '' } as const;

  it('is taken once, for its purpose', async () => {
    expect(await challenges.add(login)).toBe(true);
    expect(await challenges.take(sha(2), 'login')).toBeNull();
    expect(await challenges.take(sha(1), 'login')).toEqual({ challenge: 'abc', subject: '' });
    expect(await challenges.take(sha(1), 'login')).toBeNull();
    await challenges.add(login);
    expect(await challenges.take(sha(1), 'enroll')).toBeNull();
    expect(await challenges.take(sha(1), 'login')).toBeNull();
  });

  it('is taken by one of two concurrent requests', async () => {
    await challenges.add(login);
    const taken = await Promise.all([1, 2, 3, 4].map(() => challenges.take(sha(1), 'login')));
    expect(taken.filter((each) => each !== null)).toHaveLength(1);
  });

  it('is too old after two minutes', async () => {
    await challenges.add(login);
    await admin.query("update inbox_challenges set created_at = clock_timestamp() - interval '2 minutes 1 second'");
    expect(await challenges.take(sha(1), 'login')).toBeNull();
  });

  it('is refused while ten thousand wait, and stored again when they are too old', async () => {
    await admin.query(
      `insert into inbox_challenges (cookie_sha, challenge, purpose, subject)
       select lpad(to_hex(i), 64, '0'), 'x', 'login', '' from generate_series(10, 10009) i`,
    );
    expect(await challenges.add(login)).toBe(false);
    await admin.query("update inbox_challenges set created_at = clock_timestamp() - interval '3 minutes'");
    expect(await challenges.add(login)).toBe(true);
    const { rows } = await admin.query('select from inbox_challenges');
    expect(rows).toHaveLength(1);
  });
});

it('keeps sessions and challenges from every role but the gateway', async () => {
  for (const role of ['cs_review', 'cs_judge', 'cs_commit', 'cs_operator', 'cs_reader'] as const)
    for (const table of ['inbox_sessions', 'inbox_challenges'])
      await expect(database.open(role).query(`select * from ${table}`)).rejects.toThrow(/permission denied/);
});
