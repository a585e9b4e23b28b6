import { createPrinter } from '../../cli/printer';
import { askPerson, type GivenAnswer } from '../../examples/demo/ask-person';
import type { VerifiedReview } from '../../signing/verified-review';
import { reviewed, status } from '../client/fakes';

const violation = status().violations[0]!;

function review(violations: number): VerifiedReview {
  const pending = Array.from({ length: violations }, (_, i) => ({
    ...violation,
    violationId: String(i).repeat(64),
    resolution: 'pending' as const,
  }));
  const bytes = new TextEncoder().encode('UPDATE customers SET tier = 1');
  return reviewed({ ...status(), sourceTool: 'SQLDryRun', violations: pending }, bytes);
}

async function played(typed: readonly string[], violations = 1) {
  const left = [...typed];
  let [shown, asked] = ['', 0];
  const out = createPrinter({ write: (text) => void (shown += text) }, false);
  const given: GivenAnswer[] = [];
  const ask = async () => (asked++, left.shift() ?? null);
  for await (const answer of askPerson(ask, out, review(violations))) given.push(answer);
  return { given, shown, asked };
}

test('the change is shown before the first question', async () => {
  const { shown } = await played([]);
  expect(shown).toContain('UPDATE customers SET tier = 1');
  expect(shown).toContain(violation.validatorId);
});

test('an unknown word is asked again, and is never a decision', async () => {
  const { given, asked } = await played(['carol', 'bob', 'yes', '', 'no', 'confirm', 'looked at it']);
  expect(given).toEqual([{ person: 'bob', decision: 'confirm', violationId: '0'.repeat(64), reason: 'looked at it' }]);
  expect(asked).toBe(7);
});

test.each([[[]], [['alice']], [['alice', 'reject']], [['alice', 'maybe']]])(
  'the end of the input after %j gives no answer',
  async (typed) => {
    expect((await played(typed)).given).toEqual([]);
  },
);

test('each violation is asked, until one is rejected', async () => {
  const { given } = await played(['alice', 'confirm', 'a', 'bob', 'reject', 'b', 'alice', 'confirm', 'c'], 3);
  expect(given.map(({ decision, violationId }) => [decision, violationId[0]])).toEqual([
    ['confirm', '0'],
    ['reject', '1'],
  ]);
});
