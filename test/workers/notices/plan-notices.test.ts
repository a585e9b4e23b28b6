import type { NewNotice } from '../../../storage/notices/notices';
import { planNotices } from '../../../workers/notices/plan-notices';
import type { NoticeSettings, TeamSettings } from '../../../workers/notices/settings';
import { ReviewWorld } from '../../support/review/review-world';

const HOUR = 3_600_000;
const NO_TIMES = { remindEveryMs: null, escalate: null } as const;

/** Ada has confirmed everything that waited for the group `dba`, which is notified of what waits; `leads` is for its escalations. */
async function confirmed(times: Partial<TeamSettings>) {
  const world = await new ReviewWorld().confirmed();
  const since = world.now.getTime();
  const settings: NoticeSettings = {
    inbox: 'https://countersign.example/inbox/',
    channels: new Map([['chat', { type: 'slack', url: 'https://chat.example/hook' }]]),
    emailOf: new Map(),
    teams: new Map([['dba', { channels: ['chat'], ...NO_TIMES, ...times }]]),
    digestMs: 0,
    privateAddresses: [],
  };
  let looked: { notices: readonly NewNotice[]; nextLookAt: Date | null } = { notices: [], nextLookAt: null };
  const store = {
    planned: async (_look: unknown, notices: readonly NewNotice[], nextLookAt: Date | null) =>
      void (looked = { notices, nextLookAt }),
  };
  const { ledger, plans, registry: keys } = world;
  const deps = { store: store as never, ledger, plans, keys, settings };
  const lookAfter = async (hours: number) => {
    await planNotices(deps, { changeId: world.changeId, closed: false }, new Date(since + hours * HOUR));
    const { notices, nextLookAt } = looked;
    return {
      events: notices.map(({ event, n }) => `${event} ${n}`),
      nextAfter: nextLookAt === null ? null : (nextLookAt.getTime() - since) / HOUR,
    };
  };
  return { world, deps, lookAfter };
}

/** Ada takes back her confirmation of each violation. */
async function retract(world: ReviewWorld): Promise<void> {
  for (const { row } of await world.ledger.readKinds(world.changeId, ['answer_accepted'])) {
    const { violationId, digest } = row.body as { violationId: string; digest: string };
    await world.answer(world.keys.ada, { violationId, decision: 'retract', retracts: digest });
  }
}

const REMINDED = { remindEveryMs: 4 * HOUR, escalate: { afterMs: 8 * HOUR, to: 'dba' } };
const ESCALATED = { remindEveryMs: null, escalate: { afterMs: 8 * HOUR, to: 'dba' } };

test('a group that has confirmed everything gets no notice, and is looked at again in ten minutes', async () => {
  const { lookAfter } = await confirmed(REMINDED);
  expect(await lookAfter(4)).toEqual({ events: [], nextAfter: expect.closeTo(4 + 1 / 6) as unknown });
});

test('a confirmation that was taken back after such a look is reminded of, and escalated', async () => {
  const { world, lookAfter } = await confirmed(REMINDED);
  const { nextAfter } = await lookAfter(4);
  await retract(world);
  expect(await lookAfter(nextAfter ?? Number.NaN)).toEqual({ events: ['waiting 0', 'reminder 1'], nextAfter: 8 });
  expect((await lookAfter(8)).events).toEqual(['waiting 0', 'reminder 2', 'escalation 0']);
});

test('a confirmation whose key was revoked after such a look is reminded of, and escalated', async () => {
  const { world, deps, lookAfter } = await confirmed(REMINDED);
  const { nextAfter } = await lookAfter(4);
  world.reregister(world.keys.ada, { revokedAt: world.at() });
  deps.keys = world.registry;
  expect((await lookAfter(nextAfter ?? Number.NaN)).events).toEqual(['waiting 0', 'reminder 1']);
  expect((await lookAfter(8)).events).toEqual(['waiting 0', 'reminder 2', 'escalation 0']);
});

test('a confirmation that was taken back after the time of the escalation is escalated once, within minutes, by a group without reminders', async () => {
  const { world, lookAfter } = await confirmed(ESCALATED);
  const { nextAfter } = await lookAfter(8);
  await retract(world);
  expect(await lookAfter(nextAfter ?? Number.NaN)).toEqual({ events: ['waiting 0', 'escalation 0'], nextAfter: null });
});

test('a group without reminders and escalation is looked at once', async () => {
  const { lookAfter } = await confirmed(NO_TIMES);
  expect(await lookAfter(0)).toEqual({ events: [], nextAfter: null });
});
