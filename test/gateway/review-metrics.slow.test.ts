import { Registry } from 'prom-client';
import { COUNTED_KINDS, MAX_AGE_MS, ReviewMetrics } from '../../gateway/review-metrics';
import type { JsonObject } from '../../policy/contracts/canonical-json';
import type { LedgerKind } from '../../policy/contracts/ledger';
import type { ProjectionPatch } from '../../policy/evidence/ledger-port';
import type { JudgeRecord } from '../../policy/judge/record';
import { signPredicate } from '../../signing/envelope';
import { newKeyPair } from '../../signing/keys';
import type { Database } from '../../storage/database/database';
import { createCheckpointer } from '../../storage/ledger/checkpoint';
import { createLedger } from '../../storage/ledger/ledger';
import { oldestUncovered } from '../../storage/ledger/oldest-uncovered';
import { openReviews } from '../../storage/ledger/open-reviews';
import { LedgerTail } from '../../storage/ledger/tail';
import { useFreshDatabase } from '../support/postgres';
import { figures } from './figures';

const database = useFreshDatabase({ anyTime: true });

const sha = (digit: string): string => digit.repeat(64);
let changes = 0;
const freshId = (): string => (++changes).toString(16).padStart(64, '0');
const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();

/** Each row is appended with the role that may append it in production. */
const WRITER = {
  submitted: 'cs_review',
  disclosed: 'cs_review',
  answer_accepted: 'cs_review',
  answer_refused: 'cs_gateway',
  attested: 'cs_judge',
  repaired: 'cs_commit',
  closed: 'cs_commit',
} as const satisfies Partial<Record<LedgerKind, string>>;

function world() {
  const ledgers = new Map<string, ReturnType<typeof createLedger>>();
  const ledgerOf = (role: (typeof WRITER)[keyof typeof WRITER]) => {
    const ledger = ledgers.get(role) ?? createLedger(database.open(role));
    ledgers.set(role, ledger);
    return ledger;
  };
  const append = async (
    changeId: string,
    kind: keyof typeof WRITER,
    body: JsonObject,
    { at = ago(0), factKey = kind as string, patch }: { at?: string; factKey?: string; patch?: ProjectionPatch } = {},
  ): Promise<void> => {
    const [appended] = await ledgerOf(WRITER[kind]).append(changeId, [{ kind, at, factKey, body }], patch);
    expect(appended?.status).toBe('appended');
  };
  const open = async (seconds: number, state: 'RUNNING' | 'INTERVENTION_REQUIRED' = 'RUNNING'): Promise<string> => {
    const changeId = freshId();
    const submission = { tenant: 'acme', target: 'shop', sourceTool: 'SQLDryRun' };
    const body = { inputSha: sha('a'), submission, requester: 'ada' };
    const patch = { mode: 'enforced', state, openedAt: ago(seconds) } as const;
    await append(changeId, 'submitted', body, { at: ago(seconds), patch });
    return changeId;
  };
  const close = (changeId: string, state: 'COMMITTED' | 'ROLLED_BACK', reason: 'expired' | null): Promise<void> =>
    append(changeId, 'closed', { state, reason }, { patch: { state, reason, closedAt: ago(0) } });
  return { append, open, close, ledgerOf };
}

/** Reads with the role of the gateway. */
function reader() {
  const db: Database = database.open('cs_gateway');
  const clock = { now: 1_000_000 };
  const registry = new Registry();
  const tail = new LedgerTail({ db, kinds: COUNTED_KINDS, now: () => clock.now });
  const warned: unknown[] = [];
  const metrics = new ReviewMetrics(registry, {
    openReviews: () => openReviews(db),
    oldestUncovered: () => oldestUncovered(db),
    nextRows: () => tail.next(),
    queues: async () => [],
    now: () => clock.now,
    log: { warn: (facts) => void warned.push(facts) },
  });
  return {
    async read() {
      clock.now += MAX_AGE_MS;
      await metrics.refresh();
      expect(warned).toEqual([]);
      return await figures(registry);
    },
  };
}

const key = newKeyPair();
const NO_TOKENS = { input: null, cachedInput: null, output: null, reasoning: null };

function judged(changeId: string, members: Partial<JudgeRecord>): JsonObject {
  const record: JudgeRecord = {
    revision: 1,
    status: 'ALLOW',
    reasonCode: 'judge_allow',
    verdict: null,
    errorClass: null,
    cause: null,
    confidence: null,
    instructionsInDiff: false,
    markers: [],
    provider: { host: 'api.example.com', requestedModel: 'a-model' },
    hashes: { diff: sha('a'), input: sha('b'), prompt: sha('c'), schema: sha('d') },
    renderer: null,
    calls: [],
    usage: NO_TOKENS,
    costMicros: null,
    latencyMs: 5,
    attempt: 1,
    cacheHit: false,
    redactions: {},
    invisibleCharacters: 0,
    coverage: { bytes: 0, pieces: 0, lines: 0 },
    ...members,
  };
  const envelope = signPredicate(
    'attested',
    {
      kind: 'judge',
      subject: 'guardian.judge',
      changeId,
      inputSha: sha('b'),
      stagingSha: null,
      planHash: sha('e'),
      logicHash: sha('f'),
      inputDigest: sha('0'),
      evaluatedAt: ago(0),
      keyId: key.keyId,
      result: {},
      record,
    },
    key,
  );
  return { envelope: envelope as unknown as JsonObject };
}

test('open reviews are counted by state, with the age of the oldest', async () => {
  const { open, close, ledgerOf } = world();
  await open(60);
  await open(7200, 'INTERVENTION_REQUIRED');
  await open(300, 'INTERVENTION_REQUIRED');
  const unknown = await open(900);
  const row = { kind: 'refused', at: ago(0), factKey: 'unknown', body: { check: 'effect_unknown' } } as const;
  await ledgerOf('cs_commit').append(unknown, [row], { state: 'EFFECT_UNKNOWN' });
  await close(await open(90_000), 'COMMITTED', null);
  const read = await reader().read();
  expect(read).toMatchObject({
    'countersign_open_reviews{state="RUNNING"}': 1,
    'countersign_open_reviews{state="INTERVENTION_REQUIRED"}': 2,
    'countersign_open_reviews{state="COMMITTING"}': 0,
    'countersign_open_reviews{state="EFFECT_UNKNOWN"}': 1,
    'countersign_oldest_open_seconds{state="COMMITTING"}': 0,
    'countersign_source_up{source="database"}': 1,
  });
  const oldest = read['countersign_oldest_open_seconds{state="INTERVENTION_REQUIRED"}'] ?? 0;
  expect(oldest).toBeGreaterThan(7190);
  expect(oldest).toBeLessThan(7800);
});

test('the first row without a checkpoint is the oldest that none covers, as long as there is one', async () => {
  const { open } = world();
  const gateway = database.open('cs_gateway');
  expect(await oldestUncovered(gateway)).toBeNull();
  await open(120);
  await open(60);
  expect(Date.now() - Date.parse((await oldestUncovered(gateway)) ?? '')).toBeGreaterThanOrEqual(120_000);
  await createCheckpointer({ db: database.open('cs_commit'), key, now: () => new Date() }).checkpoint();
  expect(await oldestUncovered(gateway)).toBeNull();
});

test('rows are counted once, from the first refresh on', async () => {
  await database.open('admin').query(`insert into keys (key_id, envelope) values ($1, '{}')`, [key.keyId]);
  const { append, open, close } = world();
  await close(await open(60), 'COMMITTED', null);
  const { read } = reader();
  const before = await read();
  expect(before['countersign_reviews_ended_total{state="COMMITTED",reason="none"}']).toBe(0);

  const [committed, expired] = [await open(600), await open(600)];
  await append(committed, 'disclosed', { violations: [] }, { at: ago(400) });
  await append(committed, 'answer_accepted', { decision: 'confirm' }, { at: ago(0) });
  await append(expired, 'answer_refused', { code: 'bad_signature' }, { factKey: '#bad_signature:1' });
  await append(expired, 'answer_refused', { code: 'bad_signature' }, { factKey: '#bad_signature:2' });
  await append(committed, 'attested', judged(committed, { costMicros: 1500 }), { factKey: 'attested:1' });
  await append(committed, 'attested', judged(committed, { status: 'WARN' }), { factKey: 'attested:2' });
  const failure = { status: 'BLOCK', errorClass: 'ErrValidatorBackend', cause: 'quota' } as const;
  await append(expired, 'attested', judged(expired, failure), { factKey: 'attested:3' });
  await append(expired, 'repaired', { found: 'missing', did: 'ended' });
  await close(committed, 'COMMITTED', null);
  await close(expired, 'ROLLED_BACK', 'expired');

  const expected = {
    'countersign_reviews_ended_total{state="COMMITTED",reason="none"}': 1,
    'countersign_reviews_ended_total{state="ROLLED_BACK",reason="expired"}': 1,
    'countersign_reviews_ended_total{state="ROLLED_BACK",reason="declined"}': 0,
    countersign_time_to_answer_seconds_count: 1,
    'countersign_time_to_answer_seconds_bucket{le="300"}': 0,
    'countersign_time_to_answer_seconds_bucket{le="900"}': 1,
    'countersign_answers_refused_total{code="bad_signature"}': 2,
    'countersign_answers_refused_total{code="expired"}': 0,
    'countersign_judgements_total{verdict="ALLOW"}': 1,
    'countersign_judgements_total{verdict="WARN"}': 1,
    'countersign_judgements_total{verdict="failed"}': 1,
    'countersign_judgements_total{verdict="unreadable"}': 0,
    'countersign_judge_failures_total{cause="quota"}': 1,
    countersign_judge_cost_micros_total: 1500,
    countersign_judge_cost_unknown_total: 1,
    'countersign_repairs_total{did="ended"}': 1,
  };
  expect(await read()).toMatchObject(expected);
  expect(await read()).toMatchObject(expected);
});

test('a row whose transaction commits after one with a higher seq is counted, and more rows than a page are', async () => {
  const { append, open } = world();
  const [slow, fast] = [await open(60), await open(60)];
  const { read } = reader();
  await read();
  const admin = database.open('admin');
  const code = 'countersign_answers_refused_total{code="expired"}';
  const refused = (n: number) => ({
    kind: 'answer_refused' as const,
    at: ago(0),
    factKey: `#expired:${n}`,
    body: { code: 'expired' },
  });
  await admin.transaction(async (tx) => {
    await createLedger(tx).append(slow, [refused(0)]);
    await append(fast, 'answer_refused', { code: 'expired' }, { factKey: '#expired:1' });
    expect((await read())[code]).toBe(1);
  });
  expect((await read())[code]).toBe(2);
  expect((await read())[code]).toBe(2);

  for (let review = 0; review < 6; review++)
    await createLedger(admin).append(
      await open(60),
      Array.from({ length: 75 }, (_, n) => refused(n)),
    );
  expect((await read())[code]).toBe(2 + 6 * 75);
});
