import fc from 'fast-check';
import type { AdmittedAnswer } from '../../../policy/contracts/answer';
import { lastWords } from '../../../policy/decide/last-words';

const sha = (n: number): string => n.toString(16).padStart(64, '0');
const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 10, minute)).toISOString();

function answer(
  decision: AdmittedAnswer['decision'],
  minute: number,
  more: Partial<AdmittedAnswer> = {},
): AdmittedAnswer {
  return {
    violationId: sha(1),
    fingerprint: sha(2),
    decision,
    person: 'ada',
    signed: true,
    reason: '',
    issuedAt: at(minute),
    retracts: decision === 'retract' ? sha(99) : null,
    admittedAt: at(59),
    digest: sha(100 + minute),
    ...more,
  };
}
const decisions = (...answers: readonly AdmittedAnswer[]) => lastWords(answers).map(({ decision }) => decision);

test('the latest signed answer of a person counts, whatever the order of admission', () => {
  const [yes, no] = [answer('confirm', 1), answer('retract', 2)];
  expect(decisions(yes, no)).toEqual([]);
  expect(decisions(no, yes)).toEqual([]);
  expect(decisions(yes, no, answer('confirm', 3))).toEqual(['confirm']);
  expect(decisions(answer('retract', 2), answer('confirm', 2))).toEqual([]);
});

test('a reject is final: no later confirm or retraction takes it back', () => {
  expect(decisions(answer('reject', 1), answer('confirm', 5), answer('retract', 6))).toEqual(['reject']);
});

test('a confirm that a retraction names does not count, even if the clock of the retracting signer was behind', () => {
  const yes = answer('confirm', 5);
  expect(decisions(yes, answer('retract', 1, { retracts: yes.digest }))).toEqual([]);
  expect(decisions(yes, answer('retract', 1))).toEqual(['confirm']);
});

test('another person, or another violation, is not affected', () => {
  const retract = answer('retract', 9);
  expect(decisions(answer('confirm', 1, { person: 'bob' }), retract)).toEqual(['confirm']);
  expect(decisions(answer('confirm', 1, { violationId: sha(7) }), retract)).toEqual(['confirm']);
});

const any = fc.record({
  decision: fc.constantFrom('confirm', 'reject', 'retract'),
  minute: fc.nat({ max: 4 }),
  person: fc.constantFrom('ada', 'bob'),
  names: fc.nat({ max: 4 }),
});
const some = fc.array(any, { maxLength: 8 }).map((all) =>
  all.map(({ decision, minute, person, names }, i) =>
    answer(decision, minute, {
      person,
      digest: sha(100 + i),
      retracts: decision === 'retract' ? sha(100 + names) : null,
    }),
  ),
);

/** The answers, and each of them twice in any order. */
const someInOtherOrder = some.chain((answers) => {
  const twice = [...answers, ...answers];
  return fc.tuple(
    fc.constant(answers),
    fc.shuffledSubarray(twice, { minLength: twice.length, maxLength: twice.length }),
  );
});

test('neither the order nor a repetition of answers changes what counts, and each person counts once', () => {
  fc.assert(
    fc.property(someInOtherOrder, ([answers, shuffled]) => {
      const counted = (given: readonly AdmittedAnswer[]) =>
        lastWords(given)
          .map(({ person, decision, digest }) => `${person} ${decision} ${digest}`)
          .sort();
      expect(counted(shuffled)).toEqual(counted(answers));
      expect(new Set(lastWords(answers).map(({ person }) => person)).size).toBe(lastWords(answers).length);
    }),
  );
});

test('adding a reject or a retraction never adds a confirm', () => {
  fc.assert(
    fc.property(some, fc.constantFrom('reject', 'retract'), fc.nat({ max: 9 }), (answers, decision, minute) => {
      const confirmed = (given: readonly AdmittedAnswer[]) => given.filter((a) => a.decision === 'confirm').length;
      const more = answer(decision, minute, { digest: sha(500) });
      expect(confirmed(lastWords([...answers, more]))).toBeLessThanOrEqual(confirmed(lastWords(answers)));
    }),
  );
});
