import { createAnswerActivities } from '../../../activities/review/admit-answer';
import { answerScopeFromRows } from '../../../activities/review/answer-scope-from-rows';
import type { Envelope } from '../../../policy/contracts/diff';
import { statementOf } from '../../../policy/evidence/statement';
import { oneTimeKeyOf, signPasskeyEnrollment } from '../../../signing/enrollment-link';
import { newKeyPair } from '../../../signing/keys';
import { newNonce } from '../../../signing/nonce';
import { verifyAcceptedAnswers } from '../../../signing/verify-answers';
import { registeredKey } from '../../../signing/verify-review/registry-entries';
import { databaseClock } from '../../../storage/database/database-clock';
import { createEnrollments } from '../../../storage/keys/enrollments';
import { keyEnvelopes } from '../../../storage/keys/key-envelopes';
import { createKeyRegistry } from '../../../storage/keys/key-registry';
import { newLink } from '../../../storage/keys/new-link';
import { createLedger } from '../../../storage/ledger/ledger';
import { ORIGIN, testPasskey, type Touch } from '../../support/passkey';
import { startTestPostgres, type TestDatabase, type TestPostgres } from '../../support/postgres';
import { answerPlans, writeDisclosedChange, type DisclosedChange } from '../../support/review/disclosed-change';

const sha = (letter: string): string => letter.repeat(64);
const operator = { ...newKeyPair(), demo: false };
const trustedOperators = [operator.publicKey];
const dana = testPasskey('dana');
const PLAN: DisclosedChange['plan'] = {
  answers: 'signed',
  development: false,
  groups: { dba: { members: ['dana'] } },
};
const [V1, V2] = [sha('a'), sha('b')];
const VIOLATIONS = [V1, V2].map(
  (violationId) => ({ violationId, need: 'human', group: 'dba', fourEyes: true, deadlineMs: 1e13 }) as const,
);

let postgres: TestPostgres;
let database: TestDatabase;
beforeAll(async () => {
  postgres = await startTestPostgres();
  database = await postgres.database({ anyTime: true });
}, 60_000);
afterAll(() => postgres.stop());

const registryOf = (role: 'cs_review' | 'cs_commit') =>
  createKeyRegistry({ db: database.open(role), trustedOperators, now: Date.now });

/** One touch for the answers to these violations. */
function touch(changeId: string, violationIds: readonly string[], at: Touch): readonly Envelope[] {
  const [issuedAt, expiresAt] = [0, 60_000].map((ms) => new Date(Date.now() + ms).toISOString());
  const context = { tenant: 'acme', target: 'shop', environment: 'production' } as const;
  const rest = {
    decision: 'confirm',
    retracts: null,
    reason: 'seen',
    keyId: dana.keyId,
    context,
    coverage: 1,
  } as const;
  return dana.sign(
    violationIds.map((violationId) =>
      statementOf('answer', {
        changeId,
        fingerprint: sha('2'),
        violationId,
        ...rest,
        nonce: newNonce(),
        issuedAt: issuedAt ?? '',
        expiresAt: expiresAt ?? '',
      }),
    ),
    at,
  );
}

it("a passkey that was enrolled with a link answers, with each process's own database role", async () => {
  const link = await newLink(
    createEnrollments({ db: database.open('cs_operator'), trustedOperators }),
    { person: 'dana', tenants: ['acme'], publicUrl: ORIGIN, validMs: 60_000, now: new Date() },
    operator,
  );
  const gateway = createEnrollments({ db: database.open('cs_gateway'), trustedOperators });
  const offer = (await gateway.enrollmentOf(link.keyId))?.offer;
  const { credentialId, publicKey } = dana.key;
  const made = { credentialId, publicKey, enrolledAt: new Date().toISOString() };
  const statement = signPasskeyEnrollment(oneTimeKeyOf(new URL(link.link).hash)!, offer!, made);
  expect(await gateway.completeEnrollment(link.keyId, statement, dana.key)).toMatchObject({ ok: true });

  const ledger = createLedger(database.open('cs_review'));
  const { admitAnswer } = createAnswerActivities({
    ledger,
    keys: registryOf('cs_review'),
    plans: answerPlans(PLAN),
    databaseNow: databaseClock(database.open('cs_review')),
  });
  const codes = async (changeId: string, answers: readonly Envelope[]) => {
    const { results } = await admitAnswer({
      changeId,
      closed: false,
      admitted: [],
      message: { answers },
      via: 'update',
    });
    return Object.fromEntries(Object.entries(results).map(([id, { code }]) => [id, code]));
  };
  const [first, second] = [sha('1'), sha('3')];
  for (const changeId of [first, second])
    await writeDisclosedChange(ledger, { changeId, plan: PLAN, fingerprint: sha('2'), violations: VIOLATIONS });
  expect(await codes(first, touch(first, [V1, V2], { counter: 4 }))).toEqual({ [V1]: 'accepted', [V2]: 'accepted' });
  expect(await codes(second, touch(second, [V1], { counter: 4 }))).toEqual({ [V1]: 'counter_regressed' });
  expect(
    await codes(second, touch(second, [V1], { counter: 5, clientData: { origin: 'https://evil.example' } })),
  ).toEqual({
    [V1]: 'bad_signature',
  });
  expect(await codes(second, touch(second, [V1], { counter: 5 }))).toEqual({ [V1]: 'accepted' });

  const refused = (await ledger.read(second)).filter(({ row }) => row.kind === 'answer_refused');
  expect(refused.map(({ row }) => row.body['code'])).toEqual(['counter_regressed', 'bad_signature']);

  const rows = await createLedger(database.open('cs_commit')).read(first);
  const verified = verifyAcceptedAnswers({
    rows: rows.map(({ row }) => row),
    scope: (await answerScopeFromRows(answerPlans(PLAN), first, rows))!,
    keys: (await registryOf('cs_commit').snapshot()).find,
    nonces: await ledger.spentNonces(first),
    at: new Date().toISOString(),
  });
  expect([verified.answers.map(({ person }) => person), verified.refused]).toEqual([['dana', 'dana'], []]);

  const [exported] = await keyEnvelopes(database.open('cs_gateway'), trustedOperators).envelopesOf([dana.keyId]);
  expect(registeredKey(exported!.registration, trustedOperators, null)).toMatchObject({
    keyId: dana.keyId,
    passkey: dana.key,
    subject: { type: 'person', id: 'dana' },
    rights: ['read', 'answer'],
  });
});
