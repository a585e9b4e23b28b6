import type { ReviewCalls } from '../../client/review-calls';
import { createSigner } from '../../client/signer';
import { startLoad } from '../../chaos/upgrades/review-load';
import { newKeyPair } from '../../signing/keys';
import { eventually } from '../support/eventually';

const VIOLATION = { violationId: 'd'.repeat(64), need: 'human' };
const ended = (state: string, reason: string | null) => ({
  state,
  verified: true,
  why: null,
  outcome: { reason, explanation: 'because' },
});
const WAITS = { state: 'INTERVENTION_REQUIRED', violations: [VIOLATION] };

/** What becomes of the first, second, … review. */
const COURSES = [
  { status: WAITS, result: ended('COMMITTED', null) },
  { status: WAITS, result: ended('ROLLED_BACK', 'stale_base') },
  { status: { state: 'ROLLED_BACK', violations: [] }, result: ended('ROLLED_BACK', 'commit_failed') },
  { status: WAITS, result: { state: 'ABORTED', verified: false, why: 'terminated' } },
];

test('the load of the upgrades counts a confirmed review that was rolled back as lost, and explains one that was never confirmed', async () => {
  const idOf = (n: number): string => String(n).padStart(64, '0');
  let submitted = 0;
  const calls = {
    submit: async () => ({ changeId: idOf(submitted++) }),
    status: async (changeId: string) => ({
      ...{ changeId, tenant: 't', target: 'shop', environment: 'development', fingerprint: 'f'.repeat(64) },
      ...COURSES[Number(changeId)]?.status,
    }),
    answer: async () => ({ [VIOLATION.violationId]: { code: 'accepted', message: '' } }),
    result: async (changeId: string) => COURSES[Number(changeId)]?.result ?? ended('COMMITTED', null),
  } as unknown as ReviewCalls;
  const load = startLoad([{ calls, approver: calls, signer: createSigner(newKeyPair()) }], 200);
  await eventually('each course was submitted', () => submitted >= COURSES.length);
  const { committed, rolledBack, lost } = await load.stop();
  expect(committed).toContain(1);
  expect(rolledBack).toEqual([`${idOf(2)}: ROLLED_BACK (commit_failed): because`]);
  expect(lost).toEqual([
    `confirmed, but ${idOf(1)}: ROLLED_BACK (stale_base): because`,
    `${idOf(3)}: ABORTED without a verified receipt`,
  ]);
});
