import { verifyChange } from '../../../activities/committer/verify-change';
import { createGuardianActivities } from '../../../activities/review/run-guardians';
import { recordedFindings } from '../../../policy/evidence/recorded-findings';
import { HOLD_ID } from '../../support/review/demo-rules';
import { ReviewWorld, START, type WorldOptions } from '../../support/review/review-world';

const AFTER = '2026-03-02T00:00:00Z';
const waiver = (more = ''): string =>
  `\n  - { id: ops_7, validatorId: ${HOLD_ID}, reason: OPS-7, expires: "${AFTER}", scope: { targets: [shop] }${more} }`;
const world = (waivers: string, more: WorldOptions = {}): ReviewWorld =>
  new ReviewWorld({ ...more, bundle: { ...more.bundle, waivers } });
const verified = async (of: ReviewWorld) => verifyChange(of.deps, of.input, await of.rows());

test('a waived finding commits without an answer; it becomes an ALLOW that contains the original reason, in committer and evidence', async () => {
  const review = await world(waiver()).reviewed();
  const guardians = createGuardianActivities({ ...review.deps });
  await guardians.runGuardians({ changeId: review.changeId, unit: 'demo-pack' });
  expect(review.disclosed).toBeNull();
  const result = await verified(review);
  if (!result.ok) throw new Error(`${result.check}: ${result.explanation}`);
  const finding = result.findings.find((f) => f.validator_id === HOLD_ID);
  expect(finding).toMatchObject({
    status: 'ALLOW',
    reasonCode: 'waived',
    details: { waiver: { id: 'ops_7', reason: 'OPS-7', status: 'BLOCK' } },
  });
  const rows = (await review.rows()).map(({ row }) => row);
  const { plan, changeId } = review;
  const end = { action: 'COMMIT', reason: null, stagingSha: review.staged?.stagingSha ?? null } as const;
  const recorded = recordedFindings({ plan, changeId, rows, end });
  expect(recorded.filter(({ validator_id: id }) => id === HOLD_ID || id === 'safety.waivers')).toEqual(
    result.findings.filter(({ validator_id: id }) => id === HOLD_ID || id === 'safety.waivers'),
  );
});

test('waivers are evaluated at the time of the opening: one that expires during the review still applies at the commit [P10]', async () => {
  const review = await world(waiver()).reviewed();
  review.now = new Date('2026-03-05T00:00:00Z');
  expect(await verified(review)).toMatchObject({ ok: true });
});

test('an expired waiver has no effect: a person must answer, and safety.waivers names it', async () => {
  const review = await world(waiver().replace(AFTER, START)).confirmed();
  const result = await verified(review);
  if (!result.ok) throw new Error(`${result.check}: ${result.explanation}`);
  expect(result.violations.map((v) => v.validatorId)).toEqual([HOLD_ID]);
  expect(result.findings.find((f) => f.validator_id === 'safety.waivers')).toMatchObject({
    status: 'WARN',
    class: 'SAFETY',
    reasonCode: 'waiver_expired',
    details: { applied: [], expired: ['ops_7'] },
  });
});

test('a waiver that has nothing to waive gives no finding', async () => {
  const review = await world(waiver(), { text: 'clean' }).reviewed();
  const result = await verified(review);
  if (!result.ok) throw new Error(`${result.check}: ${result.explanation}`);
  expect(result.findings.find((f) => f.validator_id === 'safety.waivers')).toMatchObject({
    status: 'ALLOW',
    reason: '',
  });
});

test.each([
  ['other targets', '{ tenants: [other] }'],
  ['other requesters', '{ requesters: [bob] }'],
  ['another input', `{ inputs: ["${'0'.repeat(64)}"] }`],
])('a waiver for %s does not cover this change', async (_what, scope) => {
  const review = await world(waiver().replace('{ targets: [shop] }', scope)).reviewed();
  expect(review.disclosed?.violations.map((v) => v.validatorId)).toEqual([HOLD_ID]);
});

test('refuses a finding that the workflow disclosed as waived if the waiver is for another rule or does not exist [P4]', async () => {
  const review = new ReviewWorld({ text: 'HOLD OTHER' });
  await review.open();
  await review.stage();
  await review.judged({ status: 'ALLOW' });
  const forged = review
    .findings()
    .map((f) =>
      f.validator_id === HOLD_ID
        ? { ...f, status: 'ALLOW' as const, reasonCode: 'waived', details: { waiver: { id: 'mine' } } }
        : f,
    );
  await review.disclose(forged);
  expect(await verified(review)).toMatchObject({ ok: false });
});

test('a plan without waivers has no built-in for them, and its hash and findings do not change [P10]', () => {
  expect(new ReviewWorld().plan.validators.some((v) => v.id === 'safety.waivers')).toBe(false);
  expect(world(waiver()).plan.validators.map((v) => v.id)).toContain('safety.waivers');
});
