import fc from 'fast-check';
import { schedule } from '../../../workers/notices/schedule';
import type { TeamSettings } from '../../../workers/notices/settings';

const MINUTE = 60_000;
const since = new Date('2026-01-01T00:00:00.000Z');
const after = (ms: number): Date => new Date(since.getTime() + ms);
const settings = (more: Partial<TeamSettings> = {}): ReadonlyMap<string, TeamSettings> =>
  new Map([
    ['owners', { channels: ['chat'], remindEveryMs: null, escalate: null, ...more }],
    ['leads', { channels: ['mail'], remindEveryMs: null, escalate: null }],
  ]);
const waiting = [{ team: 'owners', since, waits: true }];

test('a group is notified at once, and without other settings never again', () => {
  expect(schedule(waiting, settings(), since)).toEqual({
    due: [{ event: 'waiting', n: 0, team: 'owners', to: 'owners' }],
    nextLookAt: null,
  });
});

test('a group that the settings do not name gets no notice', () => {
  expect(schedule([{ team: 'other', since, waits: true }], settings(), since)).toEqual({ due: [], nextLookAt: null });
});

test('of several missed reminders only the last is due, and the next look is the next reminder', () => {
  const { due, nextLookAt } = schedule(waiting, settings({ remindEveryMs: 10 * MINUTE }), after(35 * MINUTE));
  expect(due.filter(({ event }) => event === 'reminder')).toEqual([
    { event: 'reminder', n: 3, team: 'owners', to: 'owners' },
  ]);
  expect(nextLookAt).toEqual(after(40 * MINUTE));
});

test('the second group is notified once the escalation time has passed, and not before', () => {
  const own = settings({ escalate: { afterMs: 60 * MINUTE, to: 'leads' } });
  expect(schedule(waiting, own, after(60 * MINUTE - 1)).due).toHaveLength(1);
  expect(schedule(waiting, own, after(60 * MINUTE - 1)).nextLookAt).toEqual(after(60 * MINUTE));
  expect(schedule(waiting, own, after(60 * MINUTE)).due).toContainEqual({
    event: 'escalation',
    n: 0,
    team: 'owners',
    to: 'leads',
  });
});

test('a group that has confirmed everything is looked at long before its next reminder or escalation', () => {
  const own = settings({ escalate: { afterMs: 480 * MINUTE, to: 'leads' } });
  const [at, deadline] = [after(480 * MINUTE), after(720 * MINUTE)];
  const { due, nextLookAt } = schedule([{ team: 'owners', since, waits: false }], own, at);
  expect(due).toEqual([]);
  expect(nextLookAt?.getTime()).toBeGreaterThan(at.getTime());
  expect(nextLookAt?.getTime()).toBeLessThan(deadline.getTime());
});

test('the next look is always later than now, and nothing becomes due between now and then', () => {
  fc.assert(
    fc.property(
      fc.nat(500),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 300 }),
      (minutes, remind, up) => {
        const own = settings({ remindEveryMs: remind * MINUTE, escalate: { afterMs: up * MINUTE, to: 'leads' } });
        const now = after(minutes * MINUTE);
        const { due, nextLookAt } = schedule(waiting, own, now);
        if (nextLookAt === null) throw new Error('expected a next look, since there are reminders');
        expect(nextLookAt.getTime()).toBeGreaterThan(now.getTime());
        expect(schedule(waiting, own, new Date(nextLookAt.getTime() - 1)).due).toEqual(due);
        expect(schedule(waiting, own, nextLookAt).due).not.toEqual(due);
      },
    ),
  );
});
