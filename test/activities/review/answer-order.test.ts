import { createAnswerActivities } from '../../../activities/review/admit-answer';
import type { AnswerPredicate } from '../../../policy/contracts/answer';
import { messageDigest } from '../../../policy/evidence/dsse';
import { signPredicate } from '../../../signing/envelope';
import { testKey, testRegistry } from '../../support/keys';
import { memoryLedger, type MemoryLedger } from '../../support/memory-ledger';
import { ANSWERED, answerOf, answerPlans, writeDisclosedChange } from '../../support/review/disclosed-change';

const START = Date.parse('2026-03-01T12:00:00.000Z');
const { changeId, fingerprint, violationId } = ANSWERED;
const dana = testKey('approver', 'dana');

let ledger: MemoryLedger;
let minutes: number;
beforeEach(() => {
  ledger = memoryLedger();
  minutes = 0;
});

/** Admits one answer, a minute after the last one. */
async function answer(answers: 'signed' | 'unsigned', sent: object) {
  const now = new Date(START + ++minutes * 60_000);
  const plan = { answers, development: answers === 'unsigned', groups: { dba: { members: ['dana'] } } };
  const violations = [{ violationId, need: 'human', group: 'dba', fourEyes: true }] as const;
  await writeDisclosedChange(ledger, { changeId, plan, fingerprint, violations: [...violations] });
  const deps = {
    ledger,
    keys: testRegistry(dana),
    plans: answerPlans(plan),
    now: () => now,
    databaseNow: async () => now,
  };
  const input = { changeId, closed: false, admitted: [], message: { answers: [sent] }, via: 'update' } as const;
  return (await createAnswerActivities(deps).admitAnswer(input)).results[violationId];
}

describe('an unsigned confirmation that its person took back', () => {
  const confirm = (reason: string) => ({ violationId, fingerprint, decision: 'confirm', reason, actor: 'dana' });
  const retract = (reason: string) => ({
    ...confirm('wrong row'),
    decision: 'retract',
    retracts: messageDigest(confirm(reason)),
  });
  const send = (sent: object) => answer('unsigned', sent);

  it('is refused if it is sent again, and the refusal says what to do', async () => {
    expect(await send(confirm('ok'))).toMatchObject({ code: 'accepted' });
    expect(await send(retract('ok'))).toMatchObject({ code: 'accepted' });
    expect(await send(confirm('ok'))).toEqual({
      code: 'superseded',
      message:
        '"dana" retracted this answer, and an unsigned answer with the same reason is the same one; give another reason, or sign the answer',
    });
  });

  it('can be given again with another reason, also more than once', async () => {
    for (const reason of ['ok', 'checked again', 'checked a third time']) {
      expect(await send(confirm(reason))).toMatchObject({ code: 'accepted' });
      expect(await send(retract(reason))).toMatchObject({ code: 'accepted' });
    }
    expect(await send(confirm('ok'))).toMatchObject({ code: 'superseded' });
  });
});

describe('a signed confirmation that its person took back', () => {
  const signed = (more: Partial<AnswerPredicate>) => {
    const issuedAt = new Date(START + minutes * 60_000).toISOString();
    return signPredicate('answer', answerOf(dana.keyId, { issuedAt, ...more }), dana);
  };
  const send = (sent: object) => answer('signed', sent);

  it('is refused if it is sent again, even if the clock of the retracting device was behind', async () => {
    const confirm = signed({});
    await send(confirm);
    const retracts = messageDigest(confirm);
    const behind = new Date(START - 60_000).toISOString();
    expect(await send(signed({ decision: 'retract', retracts, issuedAt: behind }))).toMatchObject({ code: 'accepted' });
    expect(await send(confirm)).toMatchObject({
      code: 'superseded',
      message: '"dana" retracted this answer; sign a new one',
    });
    expect(await send(signed({}))).toMatchObject({ code: 'accepted' });
  });
});
