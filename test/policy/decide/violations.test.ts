import type { StagingRecord } from '../../../policy/contracts/staging-record';
import { buildViolations, cardinalityOf, matchPolicies } from '../../../policy/decide/violations';
import {
  decideOn,
  findingsOf,
  INPUT_SHA,
  planOf,
  planValidator,
  policyOf,
  reasonOf,
  violationsOf,
} from '../../support/plan';
import { stagingRecord } from '../../../dev/staging-record';

const A = planValidator('guardian.a');
const B = planValidator('guardian.b');
const SAFE = planValidator('safety.c');
const CALLBACK = { key: 'ask', version: 'v1' };
const fired = (plan = planOf([A])) => findingsOf(plan, { 'guardian.a': 'BLOCK' });

describe('matching policies', () => {
  test('all that match, in the order of findings, then in declared order [V10, V11]', () => {
    const plan = planOf([A, B], {
      policies: [
        policyOf('two', { match: { validatorIds: ['guardian.b', 'guardian.a'] } }),
        policyOf('one', { match: { validatorIds: ['guardian.b'] } }),
      ],
    });
    const triggered = matchPolicies(plan, findingsOf(plan, { 'guardian.a': 'WARN', 'guardian.b': 'BLOCK' }), null);
    expect(triggered.map((t) => `${t.findingIndex}/${t.policyKey}`)).toEqual(['0/two', '1/two', '1/one']);
  });

  test('the implicit policy if none matches: it requires confirmation and has no callback [T52]', () => {
    const plan = planOf([A, B], {
      policies: [policyOf('p', { match: { validatorIds: ['guardian.b'] }, requiresConfirmation: false })],
    });
    expect(violationsOf(plan, fired(plan))).toMatchObject([
      { policyKey: 'implicit', need: 'human', callbackResult: null, requiresConfirmation: true },
    ]);
    const all = planOf([A], {
      policies: [policyOf('p', { match: { sourceTools: ['HTTPPatch'] }, requiresConfirmation: false })],
    });
    expect(violationsOf(all, fired(all))).toMatchObject([{ policyKey: 'implicit', need: 'human' }]);
  });

  test('a policy with another cardinality does not match, and the finding still needs confirmation [T52, V6]', () => {
    const plan = planOf([A], {
      policies: [policyOf('many', { triggerCardinality: 'multiple', requiresConfirmation: false })],
    });
    expect(matchPolicies(plan, fired(plan), 'single')).toMatchObject([{ policyKey: 'implicit' }]);
    expect(matchPolicies(plan, fired(plan), 'multiple')).toMatchObject([{ policyKey: 'many' }]);
  });

  test('unknown cardinality matches both single and multiple policies [T53, V28]', () => {
    const plan = planOf([A], {
      policies: [
        policyOf('one', { triggerCardinality: 'single' }),
        policyOf('many', { triggerCardinality: 'multiple' }),
        policyOf('always'),
      ],
    });
    const keys = (cardinality: 'single' | 'multiple' | null) =>
      matchPolicies(plan, fired(plan), cardinality).map((t) => t.policyKey);
    expect(keys(null)).toEqual(['one', 'many', 'always']);
    expect(keys('single')).toEqual(['one', 'always']);
    expect(keys('multiple')).toEqual(['many', 'always']);
  });

  test('unknown cardinality also asks whom a change of the other cardinality would ask [V28]', () => {
    for (const triggerCardinality of ['single', 'multiple'] as const) {
      const callback = { key: 'p', version: 'v1' };
      const policies = [policyOf('p', { triggerCardinality, callback, requiresConfirmation: false })];
      const plan = planOf([A], { policies });
      expect(matchPolicies(plan, fired(plan), null).map((t) => t.policyKey)).toEqual(['p', 'implicit']);
      const callbacks = { p: { passed: true, message: null } };
      const needs = violationsOf(plan, fired(plan), { callbacks }).map(({ need }) => need);
      expect(needs).toEqual(['callback', 'human']);
    }
  });

  test('none for ALLOW, SKIPPED and SAFETY [G21]', () => {
    const plan = planOf([A, B, SAFE]);
    for (const says of ['ALLOW', 'SKIPPED'] as const)
      expect(matchPolicies(plan, findingsOf(plan, { 'guardian.a': says }), null)).toEqual([]);
    for (const says of ['WARN', 'BLOCK', 'ERROR'] as const)
      expect(matchPolicies(plan, findingsOf(plan, { 'safety.c': says }), null)).toEqual([]);
  });

  test('do not depend on the requester [V33]', () => {
    const ids = (requester: string | null) =>
      violationsOf(planOf([A]), fired(), { requester }).map((v) => v.violationId);
    expect(ids('ada')).toEqual(ids(null));
  });
});

describe('cardinality comes from the dry run', () => {
  const touched = (inserted: number, updated: number, deleted: number) => ({
    table: 't',
    inserted,
    updated,
    deleted,
    touchedSha: null,
    keyed: true,
    volatileColumns: [],
  });

  test.each([
    ['no row', {}, 'single'],
    ['one row', { tables: [touched(0, 1, 0)] }, 'single'],
    ['one row each of two tables', { tables: [touched(0, 1, 0), touched(1, 0, 0)] }, 'multiple'],
    [
      'one row, and one by a trigger',
      { tables: [touched(0, 1, 0)], sideEffects: [{ table: 'x', inserted: 1, updated: 0, deleted: 0 }] },
      'multiple',
    ],
    ['two rows', { tables: [touched(0, 0, 2)] }, 'multiple'],
    ['what was not fully captured', { tables: [touched(0, 1, 0)], fullyCaptured: false }, null],
    ['what a requester claims', { tables: [touched(0, 1, 0)], origin: 'claimed' }, null],
  ] as const)('%s [V28]', (_what, more, expected) =>
    expect(cardinalityOf(stagingRecord(more as unknown as Partial<StagingRecord>))).toBe(expected),
  );

  test('unknown without a dry run', () => expect(cardinalityOf(null)).toBeNull());
});

describe('messages', () => {
  const message = (passed: boolean | null, text: string | null, confirmationMessage = 'Go on?'): string => {
    const plan = planOf([A], { policies: [policyOf('p', { callback: CALLBACK, confirmationMessage })] });
    return (
      violationsOf(plan, fired(plan), passed === null ? {} : { callbacks: { p: { passed, message: text } } })[0]
        ?.message ?? ''
    );
  };
  test('the callback’s message, a newline, the confirmation message [T55, V3, V29]', () =>
    expect(message(false, 'Too late')).toBe('Too late\nGo on?'));
  test('no empty line if the callback gave no message', () => {
    expect(message(true, null)).toBe('Go on?');
    expect(message(true, '')).toBe('Go on?');
  });
  test('verbatim: nothing is interpolated [T55, V29]', () =>
    expect(message(false, '{action} $1 %s', 'Sure? {action} ${x}')).toBe('{action} $1 %s\nSure? {action} ${x}'));
  test('a callback without a result counts as failed, and the message says that it could not be evaluated [V26, T54]', () => {
    expect(message(null, null)).toBe('Callback "ask" could not be evaluated\nGo on?');
    const plan = planOf([A], { policies: [policyOf('p', { callback: CALLBACK, requiresConfirmation: false })] });
    expect(violationsOf(plan, fired(plan))).toMatchObject([{ need: 'hard', callbackResult: { passed: false } }]);
  });
});

describe('members of a violation', () => {
  test('are complete, and derived from policy and finding [V3, V8]', () => {
    const plan = planOf([A], {
      policies: [policyOf('p', { callback: CALLBACK, quorum: 2, group: 'dba', deadlineMs: 5 })],
    });
    expect(violationsOf(plan, fired(plan), { callbacks: { p: { passed: true, message: 'fine' } } })).toEqual([
      {
        violationId: expect.stringMatching(/^[0-9a-f]{64}$/),
        findingIndex: 0,
        validatorId: 'guardian.a',
        policyKey: 'p',
        message: 'fine\nA person must confirm this change.',
        requiresConfirmation: true,
        callbackResult: { passed: true, message: 'fine' },
        need: 'human',
        group: 'dba',
        quorum: 2,
        fourEyes: true,
        deadlineMs: 5,
      },
    ]);
  });

  test('a violation that a callback resolved is kept in the list [V24]', () => {
    const plan = planOf([A], { policies: [policyOf('p', { requiresConfirmation: false, callback: CALLBACK })] });
    const callbacks = { p: { passed: true, message: null } };
    const [violation] = violationsOf(plan, fired(plan), { callbacks });
    expect(violation).toMatchObject({ need: 'callback' });
    expect(decideOn(plan, fired(plan), { callbacks })).toMatchObject({
      action: 'COMMIT',
      resolutions: { [violation?.violationId ?? '']: 'callback' },
    });
  });

  test('all violations are listed even if there is a hard block [V23]', () => {
    const plan = planOf([A, B], {
      policies: [policyOf('p', { match: { validatorIds: ['guardian.a'] }, requiresConfirmation: false })],
    });
    const findings = findingsOf(plan, { 'guardian.a': 'BLOCK', 'guardian.b': 'BLOCK' });
    expect(Object.values(decideOn(plan, findings).resolutions).sort()).toEqual(['hard', 'pending']);
  });

  test('an unknown policy key or finding index throws', () => {
    const findings = fired();
    const build = (triggered: Parameters<typeof buildViolations>[0]['triggered']) =>
      buildViolations({
        plan: planOf([A]),
        planHash: INPUT_SHA,
        inputSha: INPUT_SHA,
        findings,
        triggered,
        callbackResults: {},
        requester: null,
      });
    expect(() => build([{ findingIndex: 0, policyKey: 'gone', callback: null }])).toThrow(RangeError);
    expect(() => build([{ findingIndex: 1, policyKey: 'implicit', callback: null }])).toThrow(RangeError);
  });
});

describe('settings of the plan', () => {
  const plan = planOf([planValidator('guardian.llm_judge', { kind: 'attested' })], {
    policies: [policyOf('p', { requiresConfirmation: false, callback: CALLBACK })],
  });
  const run = (says: 'WARN' | 'BLOCK' | 'ERROR', more: Parameters<typeof planOf>[1]): string => {
    const over = { ...plan, ...more };
    return reasonOf(
      decideOn(over, findingsOf(over, { 'guardian.llm_judge': says }), {
        callbacks: { p: { passed: true, message: null } },
      }),
    );
  };
  test('autoResolve "warnOnly": a callback resolves WARN, and BLOCK needs a person', () => {
    expect([run('WARN', {}), run('BLOCK', {})]).toEqual(['COMMIT', 'COMMIT']);
    expect([run('WARN', { autoResolve: 'warnOnly' }), run('BLOCK', { autoResolve: 'warnOnly' })]).toEqual([
      'COMMIT',
      'WAIT',
    ]);
  });
  test('onJudgeFailure: a judge failure needs a person, or forbids the change if the plan says so [T64]', () => {
    expect([run('ERROR', {}), run('ERROR', { onJudgeFailure: 'forbid' })]).toEqual(['WAIT', 'forbidden']);
    expect(run('BLOCK', { onJudgeFailure: 'forbid' })).toBe('COMMIT');
  });
});
