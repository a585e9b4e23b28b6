import { ApplicationFailure } from '@temporalio/common';
import { verifyChain } from '../../policy/evidence/chain';
import { JUDGE_ENTRY, SHOP_SQL, shopBundle, shopExtension } from '../support/shop-bundle';
import type { JudgeServer } from '../support/judge-server';
import { startSystem, type System } from '../support/system';
import { startWordJudge } from './judge-words';
import { update } from './scenarios';

/** Where an activity fails: before it did anything, or after it did everything and nobody heard of it. */
type When = 'before' | 'after';
interface Failpoint {
  readonly activity: string;
  readonly when: When;
  /** How many attempts fail. */
  left: number;
  readonly final: boolean;
}
/** By change id. */
const failpoints = new Map<string, Failpoint>();

type Activity = (input: { readonly changeId: string }) => Promise<unknown>;
function failing(name: string, activity: Activity): Activity {
  return async (input) => {
    const point = failpoints.get(input.changeId);
    const fires = point !== undefined && point.activity === name && point.left > 0;
    if (!fires) return await activity(input);
    point.left--;
    if (point.when === 'after') await activity(input);
    throw point.final ? ApplicationFailure.nonRetryable('failpoint', 'CONFIGURATION_ERROR') : new Error('failpoint');
  };
}
const withFailpoints = (_worker: string, activities: object): object =>
  Object.fromEntries(
    Object.entries(activities as Record<string, Activity>).map(([name, activity]) => [name, failing(name, activity)]),
  );

let judge: JudgeServer;
let system: System;
beforeAll(async () => {
  judge = await startWordJudge();
  system = await startSystem({
    name: 'failpoints',
    bundleText: shopBundle({ validators: JUDGE_ENTRY }),
    extension: shopExtension,
    shopSql: SHOP_SQL,
    judge,
    wrap: withFailpoints,
  });
}, 120_000);
afterAll(async () => {
  await system.close();
  await judge.stop();
});
jest.setTimeout(120_000);

const ACTIVITIES = [
  'openReview',
  'runGuardians',
  'stage',
  'askJudge',
  'disclose',
  'admitAnswer',
  'commit',
  'rollback',
  'attestJudgeFailure',
] as const;
const NOBODY_ASKED = { state: 'ROLLED_BACK', verified: true } as const;

/** One violation waits for a person; committed twice, the price would rise by two. */
async function start(id: number, point: Omit<Failpoint, 'left'> & { readonly times: number }): Promise<string> {
  const word = point.activity === 'attestJudgeFailure' ? ' /* judge_401 */' : '';
  const change = {
    ...update(`update prices set cents = cents + 1 where id = ${id}${word}`, 'prices', 1),
    target: 'shop',
    requestKey: `${system.suffix}-${id}`,
  };
  const { changeId } = system.countersign.prepare(change);
  failpoints.set(changeId, { activity: point.activity, when: point.when, final: point.final, left: point.times });
  await system.countersign.submit(change);
  return changeId;
}

const cents = async (id: number): Promise<unknown> =>
  (await system.shop<{ cents: number }>('select cents from prices where id = $1', [id]))[0]?.cents;

async function kinds(changeId: string): Promise<Record<string, number>> {
  const rows = await system.ledger(changeId);
  expect(verifyChain(rows)).toMatchObject({ ok: true });
  const counts: Record<string, number> = {};
  for (const { row } of rows) counts[row.kind] = (counts[row.kind] ?? 0) + 1;
  return counts;
}

const POINTS = ACTIVITIES.flatMap((activity) =>
  (['before', 'after'] as const).map((when) => [activity, when] as const),
);

describe('an activity that fails once', () => {
  const started: Promise<string>[] = [];
  // All at once: they share nothing but the servers.
  beforeAll(() => {
    POINTS.forEach(([activity, when], i) => started.push(start(i + 1, { activity, when, times: 1, final: false })));
  });

  test.each(POINTS)(
    '%s, %s its work: one outcome, one effect, each fact once in the ledger [T65, T66]',
    async (activity, when) => {
      const i = POINTS.findIndex(([a, w]) => a === activity && w === when);
      const changeId = (await started[i]) ?? '';
      const decision = activity === 'rollback' ? 'reject' : 'confirm';
      await system.answer(changeId, 'alice', decision);
      const { state, outcome, verified } = await system.ended(changeId);
      expect(failpoints.get(changeId)?.left).toBe(0);
      expect({ state, verified, reason: outcome.reason }).toEqual(
        decision === 'confirm'
          ? { state: 'COMMITTED', verified: true, reason: null }
          : { ...NOBODY_ASKED, reason: 'declined' },
      );
      expect(await cents(i + 1)).toBe(decision === 'confirm' ? 501 : 500);
      const counts = await kinds(changeId);
      for (const kind of ['submitted', 'planned', 'staged', 'disclosed', 'receipt', 'closed'])
        expect([kind, counts[kind]]).toEqual([kind, 1]);
      expect(counts['answer_accepted']).toBe(outcome.violations.length);
      expect(counts[decision === 'confirm' ? 'intent' : 'decided']).toBe(1);
    },
  );
});

describe('an activity that can never succeed', () => {
  const FATAL = ['openReview', 'runGuardians', 'stage', 'askJudge', 'disclose', 'commit'] as const;
  test.each(FATAL)(
    '%s: nothing is committed that nobody confirmed, and the review does not hang [T69]',
    async (activity) => {
      const id = 20 + FATAL.indexOf(activity);
      const point = { activity, when: 'before' as const, times: 1_000, final: true };
      if (activity === 'openReview') {
        await expect(start(id, point)).rejects.toMatchObject({
          code: 'refused',
          message: expect.stringContaining('failpoint') as string,
        });
      } else {
        const changeId = await start(id, point);
        // The silence of a guardian that may forbid, forbids. That of the judge is an ERROR, which asks a person.
        if (activity === 'askJudge') {
          const status = await system.waiting(changeId);
          expect(status.violations.map((v) => v.validatorId)).toContain('guardian.llm_judge');
          expect(status.findings.some((f) => f.errorClass !== undefined)).toBe(true);
          await system.answer(changeId, 'alice', 'reject');
        } else if (activity === 'commit') {
          await system.answer(changeId, 'alice', 'confirm');
        }
        await expect(system.ended(changeId)).resolves.toMatchObject(NOBODY_ASKED);
        expect(
          await system.shop(
            'select count(*)::int as n from countersign.marker where change_id = $1 and effect is not null',
            [changeId],
          ),
        ).toEqual([{ n: 0 }]);
      }
      expect(await cents(id)).toBe(500);
    },
  );
});

describe('a commit that does not report within the commit window', () => {
  let short: System;
  beforeAll(async () => {
    short = await startSystem({
      name: 'window',
      bundleText: shopBundle({ settings: 'commitWindow: 6s' }),
      extension: shopExtension,
      shopSql: SHOP_SQL,
      wrap: withFailpoints,
    });
  }, 60_000);
  afterAll(() => short.close());

  test.each([
    ['before', 'ROLLED_BACK', 500],
    ['after', 'COMMITTED', 501],
  ] as const)('%s its effect: the marker says how it ended, once [T65]', async (when, state, price) => {
    const id = when === 'before' ? 1 : 2;
    const change = {
      ...update(`update prices set cents = cents + 1 where id = ${id}`, 'prices', 1),
      target: 'shop',
      requestKey: short.suffix,
    };
    const { changeId } = short.countersign.prepare(change);
    failpoints.set(changeId, { activity: 'commit', when, final: false, left: 1_000 });
    await short.countersign.submit(change);
    await short.answer(changeId, 'bob', 'confirm');
    const ended = await short.ended(changeId);
    expect(ended).toMatchObject({
      state,
      verified: true,
      outcome: { reason: state === 'COMMITTED' ? null : 'commit_failed' },
    });
    expect(await short.shop('select cents from prices where id = $1', [id])).toEqual([{ cents: price }]);
    expect((await short.ledger(changeId)).filter(({ row }) => row.kind === 'receipt')).toHaveLength(1);
  });
});
