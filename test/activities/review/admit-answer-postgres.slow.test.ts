import { MockActivityEnvironment } from '@temporalio/testing';
import { databaseClock } from '../../../storage/database/database-clock';
import { createAnswerActivities } from '../../../activities/review/admit-answer';
import { answerScopeFromRows } from '../../../activities/review/answer-scope-from-rows';
import { createKeyRegistry } from '../../../storage/keys/key-registry';
import { createLedger } from '../../../storage/ledger/ledger';
import type { Admitted, AdmitInput } from '../../../activities/review-types';
import { verifyChain } from '../../../policy/evidence/chain';
import { signPredicate } from '../../../signing/envelope';
import { newKeyPair } from '../../../signing/keys';
import { newNonce } from '../../../signing/nonce';
import { signKeyEntry, signKeyRevocation } from '../../../signing/registry-entry';
import { verifyAcceptedAnswers } from '../../../signing/verify-answers';
import { answerPlans, writeDisclosedChange, type DisclosedChange } from '../../support/review/disclosed-change';
import { startTestPostgres, type TestDatabase, type TestPostgres } from '../../support/postgres';

const sha = (letter: string): string => letter.repeat(64);
let postgres: TestPostgres;
let database: TestDatabase;
beforeAll(async () => {
  postgres = await startTestPostgres();
  database = await postgres.database({ anyTime: true });
}, 60_000);
afterAll(() => postgres.stop());

const operator = newKeyPair();
const dana = newKeyPair();

function input(changeId: string, nonce = newNonce()): AdmitInput {
  const context = { tenant: 'acme', target: 'shop', environment: 'production' } as const;
  const [issuedAt, expiresAt] = [new Date(), new Date(Date.now() + 60_000)].map((d) => d.toISOString()) as [
    string,
    string,
  ];
  const envelope = signPredicate(
    'answer',
    {
      changeId,
      fingerprint: sha('2'),
      violationId: sha('a'),
      decision: 'confirm',
      retracts: null,
      reason: 'ja',
      keyId: dana.keyId,
      context,
      coverage: null,
      nonce,
      issuedAt,
      expiresAt,
    },
    dana,
  );
  return { changeId, closed: false, admitted: [], message: { answers: [envelope] }, via: 'signal' };
}

const PLAN: DisclosedChange['plan'] = {
  answers: 'signed',
  development: false,
  groups: { dba: { members: ['dana'] } },
};
/** The rows have a fixed time, and the database has its own. */
const VIOLATION = { violationId: sha('a'), need: 'human', group: 'dba', fourEyes: true, deadlineMs: 1e13 } as const;

it("admits with the review worker's database role, and the committer verifies the rows again; a revocation applies at once", async () => {
  const clock = { now: 0 };
  const registryOf = (role: 'cs_operator' | 'cs_review' | 'cs_commit') =>
    createKeyRegistry({
      db: database.open(role),
      trustedOperators: [operator.publicKey],
      now: () => (clock.now += 2_000),
    });
  const label = { kind: 'approver', subject: { type: 'person', id: 'dana' }, onBehalfOf: null, demo: false } as const;
  const grant = { tenants: ['*'], rights: ['answer' as const] };
  await registryOf('cs_operator').add(
    signKeyEntry({ ...label, ...grant, publicKey: dana.publicKey, addedAt: new Date().toISOString() }, operator),
  );
  const review = createLedger(database.open('cs_review'));
  const { admitAnswer } = createAnswerActivities({
    ledger: review,
    keys: registryOf('cs_review'),
    plans: answerPlans(PLAN),
    databaseNow: databaseClock(database.open('cs_review')),
  });
  const admit = (i: AdmitInput) => new MockActivityEnvironment().run(admitAnswer, i) as Promise<Admitted>;

  for (const letter of ['1', '3', '4', '5', '6']) {
    const change = { changeId: sha(letter), plan: PLAN, fingerprint: sha('2'), violations: [VIOLATION] };
    await writeDisclosedChange(review, change);
  }
  const one = input(sha('1'));
  const first = await admit(one);
  expect(first.results).toEqual({ [sha('a')]: { code: 'accepted', message: 'confirm by dana' } });
  expect(await admit(one)).toEqual(first);
  const nonce = newNonce();
  const racing = await Promise.all(['3', '4', '5'].map((letter) => admit(input(sha(letter), nonce))));
  expect(racing.flatMap((r) => Object.values(r.results).map((x) => x.code)).sort()).toEqual([
    'accepted',
    'nonce_reused',
    'nonce_reused',
  ]);

  const commit = createLedger(database.open('cs_commit'));
  const stored = await commit.read(sha('1'));
  expect(verifyChain(stored)).toMatchObject({ ok: true, length: 4 });
  const scope = await answerScopeFromRows(answerPlans(PLAN), sha('1'), stored);
  if (scope === null) throw new Error('Expected a scope');
  const verify = async () =>
    verifyAcceptedAnswers({
      rows: stored.map(({ row }) => row),
      scope,
      keys: (await registryOf('cs_commit').snapshot()).find,
      nonces: await commit.spentNonces(sha('1')),
      at: new Date().toISOString(),
    });
  expect((await verify()).answers).toEqual(first.admitted);
  await registryOf('cs_operator').revoke(
    signKeyRevocation({ keyId: dana.keyId, reason: 'lost', revokedAt: new Date().toISOString() }, operator),
  );
  expect(await verify()).toMatchObject({ answers: [], refused: [{ code: 'revoked_key' }] });
  expect(Object.values((await admit(input(sha('6')))).results)[0]?.code).toBe('revoked_key');
});
