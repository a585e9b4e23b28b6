import { exhaustive, otherTarget, sample } from '../../chaos/sweep/cases';
import { outcomeDifferences, outcomesAfter, scenarioViolations } from '../../chaos/sweep/outcomes';
import { toFault } from '../../chaos/sweep/points';
import {
  COMMITTED,
  DISCLOSED,
  observed,
  REJECTED,
  rolledBack,
  swapped,
  VIOLATION,
  without,
} from './support/checked-review';

const asking = (...validators: readonly string[]) =>
  observed(
    swapped('disclosed', {
      ...DISCLOSED,
      violations: validators.map((validatorId) => ({ ...VIOLATION, validatorId })),
    }),
  );

describe('what the scenario of the crash sweep says, whatever its faults', () => {
  test.each(['confirm', 'cas', 'refused_answer', 'judge_down'] as const)(
    'a review of %s that commits without asking a person is a violation, even if no row has a finding',
    (scenario) => {
      expect(scenarioViolations(observed(without('findings', 'disclosed', 'answer_accepted')), scenario)).toContain(
        `K3: the scenario ${scenario} was committed, and no person was asked about guardian.usual`,
      );
      expect(scenarioViolations(asking('guardian.usual', 'guardian.llm_judge'), scenario)).toEqual([]);
    },
  );

  test('a judge that failed must be asked about beside the other violation', () => {
    expect(scenarioViolations(asking('guardian.usual'), 'judge_down')).toEqual([
      'K3: the scenario judge_down was committed, and no person was asked about guardian.llm_judge',
    ]);
  });

  test.each(['reject', 'withdraw', 'stale', 'revoked', 'forbidden', 'git_stale', 'http_stale'] as const)(
    'a commit of %s is a violation, also if only the target has it',
    (scenario) => {
      const violation = [`K3: the scenario ${scenario} was committed`];
      expect(scenarioViolations(observed(COMMITTED), scenario)).toEqual(violation);
      expect(scenarioViolations({ ...rolledBack('declined', REJECTED), effects: 1 }, scenario)).toEqual(violation);
      expect(scenarioViolations(rolledBack('declined', REJECTED), scenario)).toEqual([]);
    },
  );
});

describe('what a case of the matrix with one fault must end as', () => {
  const differences = (fault: string, seen: ReturnType<typeof observed>, scenario = 'confirm' as const) =>
    outcomeDifferences(seen, outcomesAfter(scenario, toFault(fault)) ?? []);
  const failed = rolledBack('commit_failed', COMMITTED.slice(0, 7));

  test('a change that people confirmed and that is rolled back is a violation', () => {
    expect(differences('activity.commit:before:kill', failed)).toEqual([
      'expected COMMITTED, got ROLLED_BACK commit_failed',
    ]);
    expect(differences('activity.commit:before:kill', observed(COMMITTED))).toEqual([]);
  });

  test('a rollback for another reason than that of the scenario is a violation', () => {
    const seen = rolledBack('declined', REJECTED);
    expect(outcomeDifferences(seen, outcomesAfter('stale', toFault('target.seal:after:lost')) ?? [])).toEqual([
      'expected ROLLED_BACK stale_base, got ROLLED_BACK declined',
    ]);
  });

  test.each([
    ['target.commit:before:lost', 'commit_failed'],
    ['activity.runGuardians:before:kill', 'forbidden'],
    ['ledger.findings:after:hang', 'forbidden'],
    ['rules.run:before:lost', 'forbidden'],
    ['activity.attestJudgeFailure:before:hang', 'commit_refused'],
  ])('after %s a review may also be rolled back as %s, and for no other reason', (fault, reason) => {
    expect(differences(fault, rolledBack(reason, []))).toEqual([]);
    expect(differences(fault, observed(COMMITTED))).toEqual([]);
    expect(differences(fault, rolledBack('expired', []))).toEqual([
      `expected COMMITTED or ROLLED_BACK ${reason}, got ROLLED_BACK expired`,
    ]);
  });

  test('a review whose dry run was rejected, because workers were lost, may be rolled back', () => {
    const seen = rolledBack('commit_failed', [['staged', { rejected: true }]]);
    expect(differences('activity.commit:before:kill', seen)).toEqual([]);
    expect(outcomeDifferences(seen, [{ state: 'COMMITTED', reason: null }])).toHaveLength(1);
  });

  test('every case of the matrix and of git has an outcome, and only few may end in either way', () => {
    const cases = [...exhaustive(), ...otherTarget('git')];
    expect(cases.filter(({ allowed }) => allowed === null)).toEqual([]);
    // Each also allows a dry run that was rejected.
    expect(cases.filter(({ allowed }) => (allowed ?? []).length > 2)).toHaveLength(28);
    expect(sample().filter(({ allowed }) => allowed?.length !== 1)).toEqual([]);
  });
});
