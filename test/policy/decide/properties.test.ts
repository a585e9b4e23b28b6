import fc from 'fast-check';
import { MAX_VIOLATIONS } from '../../../policy/contracts/limits';
import type { PolicyViolation } from '../../../policy/contracts/violation';
import type { Decided } from '../../../policy/decide/decide';
import {
  DISCLOSED_AT,
  JUDGE,
  after,
  answerTo,
  decideOn,
  findingOf,
  findingsOf,
  planOf,
  planValidator,
  policyOf,
  reasonOf,
  strictness,
  violationsOf,
  type Says,
} from '../../support/plan';
import { ask, PEOPLE, planOfWorld, saysOf, validatorsOf, world, type World } from './world';

const RUNS = { numRuns: 200 };
const MEMBERS = new Set<string>(PEOPLE);

const core = (d: Decided) => ({ action: d.action, reason: reasonOf(d), resolutions: d.resolutions });
const deadlineOf = (v: PolicyViolation): string => new Date(Date.parse(DISCLOSED_AT) + v.deadlineMs).toISOString();

function holds(property: (w: World, extra: number) => void): void {
  fc.assert(fc.property(world, fc.nat({ max: 1000 }), property), RUNS);
}

/** Independent oracle: derives who answered which (finding, policy) directly from the world, without the code under test. */
function everythingIsAnswered(w: World): boolean {
  return w.voices.every((voice, validator) => {
    if (voice.says === 'ALLOW') return true;
    if (voice.class === 'SAFETY') return voice.says === 'WARN';
    const matching = w.policies.flatMap((p, i) =>
      p.match.validatorIds === undefined || p.match.validatorIds.includes(`x.v${validator}`) ? [{ p, i }] : [],
    );
    const asked = matching.map(({ p, i }) => ({
      ...p,
      i,
      passed: p.callback !== null && w.callbacks[`p${i}`]?.passed === true,
    }));
    const implicit = {
      i: -1,
      requiresConfirmation: true,
      quorum: 1,
      fourEyes: true,
      deadlineMs: 24 * 3_600_000,
      passed: false,
    };
    return (asked.length === 0 ? [implicit] : asked).every((p) => {
      const human =
        p.requiresConfirmation ||
        (p.passed && (voice.says === 'ERROR' || (voice.says === 'BLOCK' && w.plan.autoResolve === 'warnOnly')));
      if (!human) return p.passed;
      const said = w.said.filter((s) => s.validator === validator && s.policy === p.i);
      const counted = said.filter((s) => MEMBERS.has(s.person) && !(p.fourEyes && s.person === w.requester));
      if (counted.some((s) => s.decision === 'reject')) return false;
      const inTime = counted.filter((s) => s.minutes * 60_000 < p.deadlineMs);
      return new Set(inTime.map((s) => s.person)).size >= p.quorum + (p.fourEyes && w.requester === null ? 1 : 0);
    });
  });
}

describe('decide, over random plans, findings, callbacks and answers', () => {
  test('commits if and only if every violation has its answers [F13, V10, V14, V15, T46, T47, T48, T50, T64]', () => {
    const seen = { COMMIT: 0, WAIT: 0, ROLLBACK: 0 };
    holds((w) => {
      const decided = ask(w).decide();
      seen[decided.action]++;
      // Too few reachable people may end the review early, but never with a commit.
      if (decided.action === 'COMMIT') expect(everythingIsAnswered(w)).toBe(true);
      if (decided.action !== 'COMMIT') expect(everythingIsAnswered(w)).toBe(false);
    });
    // The generated worlds must reach all three actions; otherwise the property is vacuous.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5);
  });

  test('a finding with a higher severity never loosens the outcome [F27, G17, T42, T43]', () => {
    const order: readonly Says[] = ['ALLOW', 'WARN', 'BLOCK', 'ERROR'];
    holds((w, n) => {
      const index = n % w.voices.length;
      const id = `x.v${index}`;
      const before = saysOf(w);
      const rank = order.indexOf(before[id] ?? 'ALLOW');
      for (const more of order.slice(rank + 1)) {
        expect(strictness(ask(w, planOfWorld(w), { ...before, [id]: more }).decide())).toBeGreaterThanOrEqual(
          strictness(ask(w).decide()),
        );
      }
    });
  });

  test('an additional validator never loosens the outcome, whatever its finding [F63]', () => {
    holds((w, n) => {
      const before = ask(w).decide();
      const says = (['ALLOW', 'WARN', 'BLOCK', 'ERROR'] as const)[n % 4] ?? 'ALLOW';
      const added = planValidator('y.added', { class: n % 8 < 4 ? 'POLICY' : 'SAFETY' });
      const validators = validatorsOf(w);
      validators.splice(n % (validators.length + 1), 0, added);
      const after_ = ask(w, planOfWorld(w, validators), { ...saysOf(w), 'y.added': says }).decide();
      expect(strictness(after_)).toBeGreaterThanOrEqual(strictness(before));
    });
  });

  test('an additional judge never loosens the outcome, whether it answers or fails [F6]', () => {
    holds((w) => {
      const without = strictness(ask(w).decide());
      const plan = planOfWorld(w, [...validatorsOf(w), JUDGE]);
      const at = (says: Says): number => strictness(ask(w, plan, { ...saysOf(w), [JUDGE.id]: says }).decide());
      expect(at('ALLOW')).toBe(without);
      for (const says of ['WARN', 'BLOCK', 'ERROR'] as const) expect(at(says)).toBeGreaterThanOrEqual(without);
    });
  });

  test('a finding beyond the plan never loosens the outcome [G28]', () => {
    holds((w, n) => {
      const { findings, decide } = ask(w);
      const says = (['ALLOW', 'WARN', 'BLOCK', 'ERROR', 'SKIPPED'] as const)[n % 5] ?? 'ALLOW';
      const more = findingOf(planValidator('z.post', { class: n % 2 === 0 ? 'POLICY' : 'SAFETY' }), says);
      expect(strictness(decide({ findings: [...findings, more] }))).toBeGreaterThanOrEqual(strictness(decide()));
    });
  });

  test('neither the order of answers nor a duplicate answer changes the outcome [T57]', () => {
    holds((w, n) => {
      const { answers, decide } = ask(w);
      const turned = [
        ...answers.slice(n % (answers.length + 1)),
        ...answers.slice(0, n % (answers.length + 1)),
      ].reverse();
      expect(core(decide({ answers: turned }))).toEqual(core(decide()));
      expect(core(decide({ answers: [...answers, ...turned] }))).toEqual(core(decide()));
    });
  });

  test('after a reject that counts, no confirm changes the outcome [V14, T57]', () => {
    holds((w) => {
      const { violations, answers, decide } = ask(w);
      const violation = violations.find((v) => v.need === 'human');
      if (violation === undefined) return;
      const person = PEOPLE.find((p) => p !== w.requester) ?? 'bob';
      const no = answerTo(violation, 'reject', person, { admittedAt: after(1) });
      const yes = PEOPLE.map((p) => answerTo(violation, 'confirm', p, { admittedAt: after(2) }));
      expect(decide({ answers: [...yes, ...answers, no, ...yes] }).action).toBe('ROLLBACK');
    });
  });

  test('WARN and BLOCK weigh the same under POLICY [G20]', () => {
    holds((w) => {
      const plain = { ...w, plan: { ...w.plan, autoResolve: 'any' as const } };
      const swap = {
        ...plain,
        voices: plain.voices.map((v) =>
          v.class === 'POLICY' && v.says === 'WARN' ? { ...v, says: 'BLOCK' as const } : v,
        ),
      };
      expect(reasonOf(ask(swap).decide())).toBe(reasonOf(ask(plain).decide()));
    });
  });

  test('SAFETY never asks anyone: it creates no violation, and never causes a wait [G21, T41]', () => {
    holds((w) => {
      const { violations, findings } = ask(w);
      for (const v of violations) expect(findings[v.findingIndex]?.class).toBe('POLICY');
      const safetyOnly = { ...w, voices: w.voices.map((v) => ({ ...v, class: 'SAFETY' as const })) };
      expect(ask(safetyOnly).decide().action).not.toBe('WAIT');
    });
  });

  test('a confirmation at or after its deadline does not count [T62]', () => {
    holds((w) => {
      const { violations, answers, decide } = ask(w);
      const late = violations.flatMap((v) =>
        PEOPLE.map((p) => answerTo(v, 'confirm', p, { admittedAt: deadlineOf(v), digest: 'f'.repeat(64) })),
      );
      const inTime = { reachable: null, answers };
      expect(decide({ ...inTime, answers: [...answers, ...late] })).toEqual(decide(inTime));
    });
  });

  test('a reject counts the same before and after the deadline of its violation [V14]', () => {
    holds((w, n) => {
      const { violations, answers, decide } = ask(w);
      const human = violations.filter((v) => v.need === 'human');
      const violation = human[n % Math.max(1, human.length)];
      if (violation === undefined) return;
      const reject = (admittedAt: string) => answerTo(violation, 'reject', 'bob', { admittedAt });
      const outcome = (admittedAt: string) =>
        core(decide({ reachable: null, answers: [...answers, reject(admittedAt)] }));
      expect(outcome(deadlineOf(violation))).toEqual(outcome(after(1)));
      expect(outcome(deadlineOf(violation)).action).toBe('ROLLBACK');
    });
  });

  test('an answer from outside the group, or from the requester under four eyes, does not count', () => {
    holds((w) => {
      const { violations, answers, decide } = ask(w);
      const idle = violations.flatMap((v) =>
        ['mallory', ...(v.fourEyes && w.requester !== null ? [w.requester] : [])].flatMap((p) =>
          (['confirm', 'reject'] as const).map((d) => answerTo(v, d, p)),
        ),
      );
      const asked = { reachable: null, answers };
      expect(decide({ ...asked, answers: [...answers, ...idle] })).toEqual(decide(asked));
    });
  });

  test('one person counts once, regardless of the number of answers and keys', () => {
    holds((w) => {
      const { violations, decide } = ask(w);
      const human = violations.filter((v) => v.need === 'human');
      if (!human.some((v) => v.quorum > 1)) return;
      const often = human.flatMap((v) =>
        [1, 2, 3].map((i) => answerTo(v, 'confirm', 'bob', { admittedAt: after(i), digest: String(i).repeat(64) })),
      );
      expect(decide({ answers: often }).action).not.toBe('COMMIT');
    });
  });

  test('does not commit without a finding for each validator, in order [G28, G40]', () => {
    holds((w, n) => {
      const { findings, decide } = ask(w);
      const gone = n % findings.length;
      expect(decide({ findings: findings.filter((_, i) => i !== gone) }).action).toBe('ROLLBACK');
      if (findings.length > 1) expect(decide({ findings: [...findings].reverse() }).action).toBe('ROLLBACK');
    });
  });

  test('does not commit if a finding has another class, phase or logic hash than the plan [G11, G36]', () => {
    holds((w, n) => {
      const { findings, decide } = ask(w);
      const at = n % findings.length;
      const forged = [
        { class: findings[at]?.class === 'SAFETY' ? ('POLICY' as const) : ('SAFETY' as const) },
        { phase: 'post' as const },
        { logic_hash: 'f'.repeat(64) },
      ];
      for (const change of forged)
        expect(decide({ findings: findings.map((f, i) => (i === at ? { ...f, ...change } : f)) }).action).toBe(
          'ROLLBACK',
        );
    });
  });

  test('does not commit if a POLICY finding fires and has no violation [V10]', () => {
    holds((w, n) => {
      const { violations, decide } = ask(w);
      const victim = violations[n % Math.max(1, violations.length)];
      if (victim === undefined) return;
      const rest = violations.filter((v) => v.findingIndex !== victim.findingIndex);
      const all = rest.flatMap((v) => PEOPLE.map((p) => answerTo(v, 'confirm', p)));
      expect(decide({ violations: rest, answers: all, reachable: null }).action).toBe('ROLLBACK');
    });
  });

  test('does not commit if a violation claims resolution by a callback that did not pass', () => {
    holds((w) => {
      const { violations, decide } = ask(w);
      if (violations.length === 0) return;
      const forged = violations.map((v) => ({
        ...v,
        need: 'callback' as const,
        callbackResult: { passed: false, message: null },
      }));
      expect(decide({ violations: forged }).action).toBe('ROLLBACK');
    });
  });

  test('does not commit under another decide revision', () => {
    holds((w) => {
      const { plan, input, findings } = ask(w);
      expect(reasonOf(decideOn({ ...plan, decideRevision: 2 }, findings, input))).toBe('policy_moved');
    });
  });

  test('an invalid or extreme time never throws, and never commits an unanswered change', () => {
    const odd = fc.constantFrom(
      '',
      'soon',
      '2026-01-02T00:00:00Z',
      '2026-01-02T00:00:00.000000Z',
      '+275760-09-13T00:00:00.000Z',
      '9999-12-31T23:59:59.999Z',
      '0000-01-01T00:00:00Z',
    );
    fc.assert(
      fc.property(world, odd, odd, odd, (w, disclosedAt, at, admittedAt) => {
        const { answers, decide } = ask(w);
        const decided = decide({ disclosedAt, at, answers: answers.map((a) => ({ ...a, admittedAt })) });
        if (decided.action === 'COMMIT')
          expect(
            ask({ ...w, said: w.said.map((s) => ({ ...s, minutes: 1 })) }).decide({ reachable: null }).action,
          ).toBe('COMMIT');
      }),
      RUNS,
    );
  });
});

describe('precedence: hard block, reject, no handler, time-out [V23, V25]', () => {
  const [hard, ask_, wait] = ['guardian.a', 'guardian.b', 'guardian.c'].map((id) => planValidator(id));
  const plan = planOf(
    [hard, ask_, wait].flatMap((v) => v ?? []),
    {
      policies: [
        policyOf('gate', { match: { validatorIds: ['guardian.a'] }, requiresConfirmation: false }),
        policyOf('human', { match: { validatorIds: ['guardian.b'] }, deadlineMs: 3_600_000 }),
        policyOf('other', { match: { validatorIds: ['guardian.c'] }, group: 'leads', deadlineMs: 3_600_000 }),
      ],
      groups: { dba: { members: ['ada', 'bob'] }, leads: { members: ['kim'] } },
    },
  );
  const run = (
    says: Record<string, Says>,
    decision: 'confirm' | 'reject' | null,
    reachable: string[],
    minutes: number,
  ): string => {
    const findings = findingsOf(plan, says);
    const violation = violationsOf(plan, findings).find((v) => v.policyKey === 'human');
    const answers = decision === null || violation === undefined ? [] : [answerTo(violation, decision)];
    return reasonOf(decideOn(plan, findings, { answers, reachable, at: after(minutes) }));
  };
  const both = { 'guardian.b': 'BLOCK', 'guardian.c': 'BLOCK' } as const;

  test('a hard block wins over a reject, even if all other violations are confirmed [T49]', () => {
    expect(run({ ...both, 'guardian.a': 'BLOCK' }, 'reject', [], 600)).toBe('forbidden');
    expect(run({ ...both, 'guardian.a': 'BLOCK' }, 'confirm', ['ada', 'kim'], 1)).toBe('forbidden');
  });
  test('a reject wins over a violation without a handler', () =>
    expect(run(both, 'reject', ['ada'], 600)).toBe('declined'));
  test('a missing handler ends the review immediately, and wins over the time-out [T51]', () => {
    expect(run(both, null, ['ada'], 1)).toBe('no_handler');
    expect(run(both, 'confirm', ['ada'], 600)).toBe('no_handler');
  });
  test('a time-out comes last [T62]', () => {
    expect(run(both, 'confirm', ['ada', 'kim'], 59)).toBe('WAIT');
    expect(run(both, 'confirm', ['ada', 'kim'], 60)).toBe('expired');
  });
  test('rolls back if one violation is rejected, even if others still wait [V14]', () =>
    expect(run(both, 'reject', ['ada', 'kim'], 1)).toBe('declined'));
});

describe('who must answer', () => {
  const plan = planOf([planValidator('guardian.a')], { groups: { dba: { members: ['ada', 'bob', 'eve', 'kim'] } } });
  const people = (quorum: number, requester: string | null, confirmers: readonly string[], fourEyes = true): string => {
    const asking = { ...plan, policies: [policyOf('p', { quorum, fourEyes })] };
    const findings = findingsOf(asking, { 'guardian.a': 'BLOCK' });
    const [violation] = violationsOf(asking, findings, { requester });
    if (violation === undefined) throw new Error('nothing to answer');
    return decideOn(asking, findings, {
      requester,
      reachable: null,
      answers: confirmers.map((p) => answerTo(violation, 'confirm', p)),
    }).action;
  };

  test('under four eyes the requester never counts; otherwise the requester counts like any member', () => {
    expect(people(1, 'ada', ['ada'])).toBe('WAIT');
    expect(people(1, 'ada', ['bob'])).toBe('COMMIT');
    expect(people(2, 'ada', ['ada', 'bob'])).toBe('WAIT');
    expect(people(1, 'ada', ['ada'], false)).toBe('COMMIT');
  });

  test('an unknown requester needs two people under four eyes', () => {
    expect(people(1, null, ['ada'])).toBe('WAIT');
    expect(people(1, null, ['ada', 'bob'])).toBe('COMMIT');
    expect(people(1, null, ['ada'], false)).toBe('COMMIT');
  });

  test('omitting the signature never lowers the number of other people who must confirm', () => {
    // One of the three may be the requester, so at least two others confirm, as a quorum of two requires.
    expect(people(2, null, ['ada', 'bob'])).toBe('WAIT');
    expect(people(2, null, ['ada', 'bob', 'eve'])).toBe('COMMIT');
  });

  test('three violations need three answers [T46, V12]', () => {
    const three = planOf(['a', 'b', 'c'].map((n) => planValidator(`guardian.${n}`)));
    const findings = findingsOf(three, { 'guardian.a': 'BLOCK', 'guardian.b': 'WARN', 'guardian.c': 'ERROR' });
    const violations = violationsOf(three, findings);
    const decided = decideOn(three, findings, { answers: violations.slice(0, 2).map((v) => answerTo(v, 'confirm')) });
    expect(decided).toMatchObject({ action: 'WAIT', pending: [violations[2]?.violationId] });
    expect(decideOn(three, findings, { answers: violations.map((v) => answerTo(v, 'confirm')) }).action).toBe('COMMIT');
  });

  test('the explanation names who declined and why, and ignores answers that do not count', () => {
    const findings = findingsOf(plan, { 'guardian.a': 'BLOCK' });
    const [violation] = violationsOf(plan, findings);
    const no = (person: string, reason: string) =>
      answerTo(violation ?? { violationId: '' }, 'reject', person, { reason });
    expect(decideOn(plan, findings, { answers: [no('mallory', 'hm'), no('bob', 'drops the table')] })).toMatchObject({
      reason: 'declined',
      explanation: 'guardian.a declined by bob: drops the table',
    });
  });
});

describe('a skipped validator', () => {
  const rule = planValidator('guardian.a');
  const plan = planOf([rule, JUDGE], { judgeWhen: 'onlyIfClean' });
  const decideWith = (says: Record<string, Says>, over = plan, reasonCode = 'judge_when'): string => {
    const findings = findingsOf(over, says).map((f) => (f.status === 'SKIPPED' ? { ...f, reasonCode } : f));
    const answers = violationsOf(over, findings).map((v) => answerTo(v, 'confirm'));
    return reasonOf(decideOn(over, findings, { answers }));
  };
  const skipped = { [JUDGE.id]: 'SKIPPED' } as const;

  test('a judge that the plan runs only if the rules are clean may be skipped if they are not [T45]', () => {
    expect(decideWith({ ...skipped, 'guardian.a': 'BLOCK' })).toBe('COMMIT');
  });
  test('never commits if the rules are clean and the judge was skipped: SKIPPED is not ALLOW [T45]', () =>
    expect(decideWith(skipped)).toBe('contract_violation'));
  test('never commits if the judge was skipped and the plan sets judgeWhen unlessHardBlock', () => {
    const strict = { ...plan, judgeWhen: 'unlessHardBlock' } as const;
    expect(decideWith({ ...skipped, 'guardian.a': 'BLOCK' }, strict)).toBe('contract_violation');
  });
  test.each(['static_block', 'staged_block', 'withdrawn', 'tired'])('never commits for the reason %s', (reason) => {
    expect(decideWith({ ...skipped, 'guardian.a': 'BLOCK' }, plan, reason)).toBe('contract_violation');
  });
  test('only a judge may be skipped, never a rule or a built-in validator', () => {
    const builtin = planValidator('guardian.circuit_open', { kind: 'attested', unit: 'builtin' });
    const more = planOf([rule, planValidator('guardian.b'), builtin], { judgeWhen: 'onlyIfClean' });
    expect(decideWith({ 'guardian.a': 'BLOCK', 'guardian.b': 'SKIPPED' }, more)).toBe('contract_violation');
    expect(decideWith({ 'guardian.a': 'BLOCK', 'guardian.circuit_open': 'SKIPPED' }, more)).toBe('contract_violation');
  });
  test('a skipped finding does not count as one that fires, so it cannot justify another skip', () => {
    const two = planOf([rule, JUDGE, { ...JUDGE, id: 'guardian.second_judge' }], { judgeWhen: 'onlyIfClean' });
    expect(decideWith({ [JUDGE.id]: 'SKIPPED', 'guardian.second_judge': 'SKIPPED' }, two)).toBe('contract_violation');
  });
});

test('does not commit with more than 200 violations, even if a callback resolves each of them', () => {
  const count = MAX_VIOLATIONS + 1;
  const validators = Array.from({ length: count }, (_, i) => planValidator(`guardian.r${i}`));
  const plan = planOf(validators, {
    policies: [policyOf('p', { requiresConfirmation: false, callback: { key: 'ask', version: 'v1' } })],
  });
  const says = (n: number) => findingsOf(plan, Object.fromEntries(validators.slice(0, n).map((v) => [v.id, 'BLOCK'])));
  const callbacks = { p: { passed: true, message: null } };
  expect(decideOn(plan, says(MAX_VIOLATIONS), { callbacks }).action).toBe('COMMIT');
  expect(reasonOf(decideOn(plan, says(count), { callbacks }))).toBe('forbidden');
});
