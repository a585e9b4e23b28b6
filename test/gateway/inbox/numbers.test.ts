import type { InboxNumbers } from '../../../storage/inbox/numbers';
import { inboxWorld, loggedIn, mallory } from './world';

function numbersOf(calls: unknown[]): InboxNumbers {
  const answers = { answers: 12, confirmed: 12, rejected: 0, medianSeconds: 4, confirmedFast: 0.5 };
  return {
    reviews: async (tenants, days) => {
      calls.push([tenants, days]);
      return { reviews: 20, committed: 12, rolledBack: 5, expired: 3, refusals: 2 };
    },
    answers: async (by) => [{ name: by === 'all' ? null : by === 'rule' ? 'guardian.rows' : 'dba', ...answers }],
    asked: async () => [
      { rule: 'guardian.rows', asked: 12, expired: 0 },
      { rule: 'guardian.never', asked: 8, expired: 3 },
    ],
  };
}

it('gives figures by rule and group, and names the command for a rule that is always confirmed', async () => {
  const world = inboxWorld({ inbox: { numbers: numbersOf([]) } });
  const read = (await (await (await loggedIn(world)).get('numbers')).json()) as Record<string, unknown>;
  expect(read).toEqual({
    days: 30,
    reviews: 20,
    committed: 12,
    rolledBack: 5,
    expired: 3,
    refusals: 2,
    medianSecondsToAnswer: 4,
    confirmedWithin5s: 0.5,
    byRule: [
      {
        rule: 'guardian.rows',
        asked: 12,
        confirmed: 12,
        rejected: 0,
        expired: 0,
        medianSecondsToAnswer: 4,
        tuneCommand: expect.stringContaining('countersign policy publish'),
      },
      {
        rule: 'guardian.never',
        asked: 8,
        confirmed: 0,
        rejected: 0,
        expired: 3,
        medianSecondsToAnswer: null,
        tuneCommand: null,
      },
    ],
    byGroup: [{ group: 'dba', answers: 12, medianSecondsToAnswer: 4, confirmedWithin5s: 0.5 }],
  });
});

it('reads them once a minute for the same tenants, and never for others', async () => {
  const calls: unknown[] = [];
  const world = inboxWorld({ inbox: { numbers: numbersOf(calls) } });
  const [alice, other] = [await loggedIn(world), await loggedIn(world, mallory)];
  for (const browser of [alice, alice, other, other]) await browser.get('numbers?days=7');
  await alice.get('numbers');
  world.clock.now += 60_000;
  await alice.get('numbers?days=7');
  expect(calls).toEqual([
    [['acme'], 7],
    [['evil'], 7],
    [['acme'], 30],
    [['acme'], 7],
  ]);
});

it.each(['0', '91', '-1', '1.5', 'x', ''])('refuses %s days', async (days) => {
  const world = inboxWorld({ inbox: { numbers: numbersOf([]) } });
  expect((await (await loggedIn(world)).get(`numbers?days=${days}`)).status).toBe(400);
});
