import type { AdmittedAnswer } from '../../../policy/contracts/answer';
import type { PolicyCallbackResult, PolicyViolation } from '../../../policy/contracts/violation';
import { lastCountedAt } from '../../../policy/decide/decide';
import { COMBINATIONS, expected, nameOf, type Combination, type Expected } from '../../support/decision-table';
import {
  after,
  answerTo,
  decideOn,
  DISCLOSED_AT,
  findingsOf,
  HOUR,
  planOf,
  planValidator,
  policyOf,
  reasonOf,
  violationsOf,
} from '../../support/plan';

const RESULTS: Readonly<Record<Combination['callback'], Readonly<Record<string, PolicyCallbackResult>>>> = {
  none: {},
  passed: { p: { passed: true, message: null } },
  failed: { p: { passed: false, message: 'no' } },
  // A callback that threw has no result, and counts as failed.
  threw: {},
};

/** Runs `matchPolicies`, `buildViolations` and `decide` on the combination, first without an answer, then with it. */
function run(c: Combination): Expected {
  const validator = planValidator('x.rule', { class: c.class });
  const callback = c.callback === 'none' ? null : { key: 'ask', version: 'v1' };
  const plan = planOf([validator], {
    policies: [policyOf('p', { requiresConfirmation: c.requiresConfirmation, callback })],
  });
  const findings = findingsOf(plan, { 'x.rule': c.status });
  const callbacks = RESULTS[c.callback];
  const before = decideOn(plan, findings, { callbacks, reachable: c.human === 'noHandler' ? [] : ['ada'] });
  if (before.action !== 'WAIT')
    return { asked: false, outcome: before.action, reason: before.action === 'ROLLBACK' ? before.reason : '' };
  const [violation] = violationsOf(plan, findings, { callbacks });
  if (violation === undefined) throw new Error('waits without a violation');
  const decided =
    c.human === 'timeout'
      ? decideOn(plan, findings, { callbacks, at: after(24 * 60) })
      : decideOn(plan, findings, {
          callbacks,
          answers: [answerTo(violation, c.human === 'reject' ? 'reject' : 'confirm')],
        });
  if (decided.action === 'WAIT') throw new Error('still waits after the answer');
  return { asked: true, outcome: decided.action, reason: decided.action === 'ROLLBACK' ? reasonOf(decided) : '' };
}

describe('each of the 256 combinations has the outcome of the table', () => {
  test.each(COMBINATIONS.map((c) => [nameOf(c), c] as const))(
    '%s [V14, V15, V16, V17, V23, V25, G17, G20, G21]',
    (_name, c) => {
      expect(run(c)).toEqual(expected(c));
    },
  );
});

describe('an answer after the deadline of its violation, while another violation still waits', () => {
  const plan = planOf([planValidator('x.short'), planValidator('x.long')], {
    policies: [
      policyOf('short', { match: { validatorIds: ['x.short'] }, deadlineMs: HOUR }),
      policyOf('long', { match: { validatorIds: ['x.long'] }, deadlineMs: 24 * HOUR }),
    ],
  });
  const findings = findingsOf(plan, { 'x.short': 'BLOCK', 'x.long': 'BLOCK' });
  const [short, long] = violationsOf(plan, findings) as [PolicyViolation, PolicyViolation];
  const inTime = answerTo(short, 'confirm', 'ada', { admittedAt: after(30), digest: '5'.repeat(64) });
  const late = (decision: AdmittedAnswer['decision'], person = 'ada', more: Partial<AdmittedAnswer> = {}) =>
    answerTo(short, decision, person, { admittedAt: after(120), ...more });
  const decided = (...answers: readonly AdmittedAnswer[]) => decideOn(plan, findings, { answers, at: after(121) });

  test('a reject declines the change at once, as the committer refuses its commit [V14, V25]', () => {
    expect(decided(inTime)).toMatchObject({ action: 'WAIT', pending: [long.violationId] });
    const declined = { reason: 'declined', explanation: 'x.short declined by ada' };
    expect(decided(inTime, late('reject'))).toMatchObject(declined);
    expect(decided(inTime, late('reject'), answerTo(long, 'confirm', 'bob'))).toMatchObject(declined);
  });

  test('a reject wins over the time-out of its violation [V14]', () => {
    expect(reasonOf(decided())).toBe('expired');
    expect(reasonOf(decided(late('reject', 'bob')))).toBe('declined');
  });

  test('a retraction takes the confirmation back, and the violation has then expired', () => {
    expect(reasonOf(decided(inTime, late('retract', 'ada', { retracts: inTime.digest })))).toBe('expired');
  });

  test('a confirmation does not count [T62]', () => {
    expect(reasonOf(decided(late('confirm', 'bob')))).toBe('expired');
  });

  test('a confirmation does not move the start of the commit window', () => {
    const answers = [inTime, late('confirm', 'bob')];
    const given = { plan, violations: [short, long], answers, requester: null, disclosedAt: DISCLOSED_AT };
    expect(lastCountedAt({ ...given, at: after(121) })).toBe(after(30));
  });
});
