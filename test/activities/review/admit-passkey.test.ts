import { createAnswerActivities } from '../../../activities/review/admit-answer';
import { createWithdrawalActivities } from '../../../activities/review/admit-withdrawal';
import type { AnswerPredicate } from '../../../policy/contracts/answer';
import type { Envelope } from '../../../policy/contracts/diff';
import { statementOf, type Statement } from '../../../policy/evidence/statement';
import { newNonce } from '../../../signing/nonce';
import { verifyAcceptedAnswers } from '../../../signing/verify-answers';
import { answerScopeFromRows } from '../../../activities/review/scopes-from-rows';
import { testRegistry } from '../../support/keys';
import { memoryLedger, type MemoryLedger } from '../../support/memory-ledger';
import { testPasskey, USER_PRESENT, type TestPasskey, type Touch } from '../../support/passkey';
import {
  ANSWERED,
  answerOf,
  answerPlans,
  writeDisclosedChange,
  type DisclosedChange,
} from '../../support/review/disclosed-change';

const sha = (letter: string): string => letter.repeat(64);
const NOW = '2026-03-01T12:00:00.000Z';
const { changeId: CHANGE, fingerprint: PRINT, violationId: V1 } = ANSWERED;
const V2 = sha('b');
const PLAN: DisclosedChange['plan'] = {
  answers: 'signed',
  development: false,
  groups: { dba: { members: ['dana', 'eli'] } },
};
const VIOLATIONS = [V1, V2].map(
  (violationId) => ({ violationId, need: 'human', group: 'dba', fourEyes: true }) as const,
);

const dana = testPasskey('dana');
const eli = testPasskey('eli', { algorithm: 'EdDSA' });
const registry = testRegistry(dana, eli);
let ledger: MemoryLedger;
beforeEach(() => (ledger = memoryLedger()));

const statement = (by: TestPasskey, more: Partial<AnswerPredicate> = {}): Statement =>
  statementOf('answer', answerOf(by.keyId, { coverage: 1, ...more }));
const touch = (by: TestPasskey, more: Partial<AnswerPredicate> = {}, at?: Touch): Envelope =>
  by.sign([statement(by, more)], at)[0]!;
const deps = () => ({
  ledger,
  keys: registry,
  plans: answerPlans(PLAN),
  now: () => new Date(NOW),
  databaseNow: async () => new Date(NOW),
});
async function codes(answers: readonly Envelope[], changeId = CHANGE): Promise<Record<string, string>> {
  await writeDisclosedChange(ledger, { changeId, plan: PLAN, fingerprint: PRINT, violations: VIOLATIONS });
  const input = { changeId, closed: false, admitted: [], message: { answers }, via: 'update' } as const;
  const { results } = await createAnswerActivities(deps()).admitAnswer(input);
  return Object.fromEntries(Object.entries(results).map(([violationId, { code }]) => [violationId, code]));
}
const rows = (kind: string) => ledger.all.map(({ row }) => row).filter((row) => row.kind === kind);

it('admits several answers of one touch, which the committer verifies again from the rows', async () => {
  const sent = dana.sign([statement(dana), statement(dana, { violationId: V2, decision: 'reject' })], { counter: 9 });
  expect(await codes(sent)).toEqual({ [V1]: 'accepted', [V2]: 'accepted' });
  expect(rows('answer_accepted').map(({ body }) => body['answer'])).toEqual(expect.arrayContaining([...sent]));
  const stored = ledger.all.filter(({ row }) => row.changeId === CHANGE);
  const scope = await answerScopeFromRows(answerPlans(PLAN), CHANGE, stored);
  const verified = verifyAcceptedAnswers({
    rows: stored.map(({ row }) => row),
    scope: scope!,
    keys: (await registry.snapshot()).find,
    nonces: await ledger.spentNonces(CHANGE),
    at: NOW,
  });
  expect(verified.answers.map(({ person, decision }) => [person, decision]).sort()).toEqual([
    ['dana', 'confirm'],
    ['dana', 'reject'],
  ]);
  expect([verified.refused, verified.standingRejects.length]).toEqual([[], 1]);
});

it('refuses a counter that did not grow, also in another review, and records the refusal', async () => {
  const other = sha('5');
  expect(await codes([touch(dana, {}, { counter: 5 })])).toEqual({ [V1]: 'accepted' });
  expect(await codes([touch(dana, { violationId: V2 }, { counter: 5 })])).toEqual({ [V2]: 'counter_regressed' });
  expect(await codes([touch(dana, { changeId: other }, { counter: 4 })], other)).toEqual({ [V1]: 'counter_regressed' });
  expect(await codes([touch(dana, { changeId: other }, { counter: 0 })], other)).toEqual({ [V1]: 'counter_regressed' });
  expect(rows('answer_refused').map(({ body }) => body['code'])).toEqual(Array(3).fill('counter_regressed'));
  expect(await codes([touch(dana, { violationId: V2 }, { counter: 6 })])).toEqual({ [V2]: 'accepted' });
  expect(await codes([touch(eli, {}, { counter: 1 })])).toEqual({ [V1]: 'accepted' });
});

it('does not compare counters of an authenticator that does not count', async () => {
  expect(await codes([touch(dana)])).toEqual({ [V1]: 'accepted' });
  expect(await codes([touch(dana, { violationId: V2 })])).toEqual({ [V2]: 'accepted' });
});

it('accepts the same envelope again without a new row, also after a later touch', async () => {
  const first = touch(dana, {}, { counter: 5 });
  expect(await codes([first])).toEqual({ [V1]: 'accepted' });
  expect(await codes([touch(dana, { violationId: V2 }, { counter: 6 })])).toEqual({ [V2]: 'accepted' });
  // The workflow says that it does not count this answer yet, as after a lost result.
  expect(await codes([first])).toEqual({ [V1]: 'accepted' });
  expect(rows('answer_accepted')).toHaveLength(2);
  expect(rows('answer_refused')).toHaveLength(0);
});

it('refuses a replayed assertion for another statement, and a forged one, and records each refusal', async () => {
  const genuine = touch(dana);
  const other = { ...touch(dana, { violationId: V2, decision: 'confirm' }), signatures: genuine.signatures };
  expect(await codes([other])).toEqual({ [V2]: 'bad_signature' });
  expect(await codes([touch(dana, {}, { flags: USER_PRESENT })])).toEqual({ [V1]: 'bad_signature' });
  expect(await codes([touch(dana, {}, { clientData: { origin: 'https://evil.example' } })])).toEqual({
    [V1]: 'bad_signature',
  });
  expect(await codes([touch(dana, {}, { challenge: new Uint8Array(32) })])).toEqual({ [V1]: 'bad_signature' });
  expect(await codes([touch(dana, {}, { rpId: 'evil.example' })])).toEqual({ [V1]: 'bad_signature' });
  expect(rows('answer_refused').map(({ body }) => body['code'])).toEqual(Array(5).fill('bad_signature'));
  expect(rows('answer_accepted')).toEqual([]);
});

it('an approver withdraws a change with a passkey, but not with a counter that fell', async () => {
  await codes([touch(dana, {}, { counter: 8 })]);
  const withdrawal = (at: Touch) => {
    const predicate = {
      changeId: CHANGE,
      keyId: dana.keyId,
      actor: 'dana',
      reason: 'not now',
      nonce: newNonce(),
      issuedAt: NOW,
    };
    return dana.sign([statementOf('withdraw', predicate)], at)[0]!;
  };
  const withdraw = async (at: Touch) => {
    const input = {
      changeId: CHANGE,
      kind: 'withdraw',
      message: { statement: withdrawal(at) },
      via: 'update',
    } as const;
    return (await createWithdrawalActivities(deps()).admitWithdrawal(input)).result.code;
  };
  expect(await withdraw({ counter: 8 })).toBe('counter_regressed');
  expect(rows('answer_refused').map(({ body }) => body['code'])).toEqual(['counter_regressed']);
  expect(await withdraw({ counter: 9 })).toBe('accepted');
});
