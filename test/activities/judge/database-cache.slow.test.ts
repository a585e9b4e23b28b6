import { createHmac } from 'node:crypto';
import { canonicalJson } from '../../../policy/contracts/canonical-json';
import { CountersignFailure } from '../../../policy/contracts/failure';
import { FailureType } from '../../../policy/contracts/failure-type';
import type { Database } from '../../../storage/database/database';
import type { CachedReply } from '../../../activities/judge/cache';
import { createDatabaseJudgeCache } from '../../../activities/judge/database-cache';
import { useDatabase } from '../../support/postgres';

const KEY = 'a'.repeat(64);
const reply = (text: string): CachedReply => ({
  text,
  model: 'm',
  requestId: null,
  finishReason: 'stop',
  usage: { input: 1, cachedInput: 0, output: 2, reasoning: null },
  structured: true,
  origin: 'c'.repeat(64),
});

describe('createDatabaseJudgeCache', () => {
  const database = useDatabase();
  let admin: Database;
  let judge: Database;
  let review: Database;
  let now = 1_000_000;
  const macKey = new Uint8Array(32).fill(5);
  beforeAll(async () => {
    [admin, judge, review] = [database.open('admin'), database.open('cs_judge'), database.open('cs_review')];
  });
  beforeEach(() => admin.query('truncate judge_answers'));
  const cache = (key = macKey): ReturnType<typeof createDatabaseJudgeCache> =>
    createDatabaseJudgeCache({ db: judge, macKey: key, ttlMs: 1000, now: () => now });

  it('returns the answer that another worker stored, and keeps the first one', async () => {
    await expect(cache().set(KEY, reply('BLOCK "\u0001" é'))).resolves.toBeNull();
    await expect(cache().set(KEY, reply('ALLOW'))).resolves.toEqual(reply('BLOCK "\u0001" é'));
    await expect(cache().get(KEY)).resolves.toEqual(reply('BLOCK "\u0001" é'));
    await expect(cache().get('b'.repeat(64))).resolves.toBeNull();
  });

  it('expires an answer after its TTL and then accepts another', async () => {
    await cache().set(KEY, reply('one'));
    now += 1001;
    await expect(cache().get(KEY)).resolves.toBeNull();
    await expect(cache().set(KEY, reply('two'))).resolves.toBeNull();
    await expect(cache().get(KEY)).resolves.toMatchObject({ text: 'two' });
  });

  it('ignores entries that a database writer forged, copied to another key or extended', async () => {
    await cache().set(KEY, reply('BLOCK'));
    await admin.query(`update judge_answers set reply = replace(reply, 'BLOCK', 'ALLOW')`);
    await expect(cache().get(KEY)).resolves.toBeNull();
    await admin.query('truncate judge_answers');
    await cache().set(KEY, reply('BLOCK'));
    await admin.query(`insert into judge_answers select repeat('b', 64), reply, at, mac from judge_answers`);
    await expect(cache().get('b'.repeat(64))).resolves.toBeNull();
    await admin.query(`update judge_answers set at = at + 500`);
    await expect(cache().get(KEY)).resolves.toBeNull();
    await expect(cache(new Uint8Array(32).fill(6)).get(KEY)).resolves.toBeNull();
  });

  it('has no answer if the stored one was written by a version with other members', async () => {
    const other = JSON.stringify({ ...reply('ALLOW'), verdict: 'ALLOW' });
    const text = canonicalJson(['countersign/judge-cache/v1', KEY, now, other]);
    const mac = createHmac('sha256', macKey).update(text).digest();
    await judge.query('insert into judge_answers values ($1, $2, $3, $4)', [KEY, other, now, mac]);
    await expect(cache().get(KEY)).resolves.toBeNull();
  });

  it('does not fail while the database is unavailable: it has no answer and stores none', async () => {
    const down = { query: () => Promise.reject(CountersignFailure.retryable('away', FailureType.Store)) };
    const unavailable = createDatabaseJudgeCache({ db: down, macKey, ttlMs: 1000, now: () => now });
    await expect(unavailable.get(KEY)).resolves.toBeNull();
    await expect(unavailable.set(KEY, reply('ALLOW'))).resolves.toBeNull();
  });

  it('is accessible to the judge role only', async () => {
    await expect(review.query('select * from judge_answers')).rejects.toMatchObject({ code: '42501' });
  });
});
