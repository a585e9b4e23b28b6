import { endLostReview, recordRepair } from '../../../activities/committer/end-lost-review';
import { reconcile } from '../../../activities/committer/reconcile';
import { beginRollback } from '../../../activities/committer/settlement';
import type { AnswerPredicate } from '../../../policy/contracts/answer';
import { canonicalJson, type JsonObject } from '../../../policy/contracts/canonical-json';
import { FailureType } from '../../../policy/contracts/failure-type';
import { signEnvelope } from '../../../signing/envelope';
import { verifyEvidence } from '../../../signing/verify-evidence';
import type { EvidenceReview } from '../../support/review/evidence-review';
import { evidenceWorld, type World } from '../../support/review/evidence-world';
import { failureType } from '../../support/review/failure-type';
import { ReviewWorld } from '../../support/review/review-world';
import { seededKey } from '../../support/seeded-key';

const LOST = {
  found: 'terminated',
  did: 'ended',
  explanation: 'Terminated',
  runId: 'a',
  workflowType: 'review',
} as const;

test('ends a change without a plan, also if the process ended after it recorded the rollback', async () => {
  const world = new ReviewWorld();
  await world.open();
  const { ledger } = world;
  const [read, append] = [ledger.read.bind(ledger), ledger.append.bind(ledger)];
  ledger.read = async (changeId) => (await read(changeId)).filter(({ row }) => row.kind !== 'planned');
  await recordRepair(world.deps, world.changeId, LOST);
  ledger.append = async (changeId, entries, ...more) => {
    const appended = await append(changeId, entries, ...more);
    if (entries.some(({ kind }) => kind === 'decided')) throw new Error('ended here');
    return appended;
  };
  await expect(world.rollback({ reason: 'workflow_lost' })).rejects.toThrow('ended here');
  ledger.append = append;
  expect(await world.rollback({ reason: 'workflow_lost' })).toMatchObject({
    state: 'ROLLED_BACK',
    reason: 'workflow_lost',
    planHash: null,
  });
});

/** Two people have confirmed the change, but it was not committed within its commit window. */
async function notCommitted(): Promise<{ readonly world: World; readonly review: EvidenceReview }> {
  const world = evidenceWorld();
  const answers = ['alice', 'bob'].map((by) => ({ by, decision: 'confirm' }) as const);
  const { steps: review } = await world.review({ table: 'public.prices', answers, open: true });
  const end = review.clock().getTime() + review.plan.commitWindowMs;
  while (review.clock().getTime() <= end);
  return { world, review };
}

test('has the time of the database at which it was verified, so evidence verifies although the clock of the committer is five minutes behind', async () => {
  const { world, review } = await notCommitted();
  const { deps } = review;
  const behind = (): Date => new Date(review.clock().getTime() - 5 * 60_000);
  Object.defineProperty(review, 'deps', { value: { ...deps, now: behind } });
  expect(await review.rollback({ reason: 'commit_failed' })).toMatchObject({ reason: 'commit_failed' });
  expect(await failedChecks(world, review)).toEqual([]);
});

test('counts a confirmation that was not admitted as its evidence does, which does not contain the spent nonces', async () => {
  const { world, review } = await notCommitted();
  const { changeId, plan } = review;
  const answer = review.sign(seededKey('bob')) as unknown as JsonObject;
  const forged = { kind: 'answer_accepted', at: review.at(), factKey: 'forged', body: { answer } } as const;
  await world.ledger.append(changeId, [forged]);
  expect(await review.commit()).toMatchObject({ state: 'REFUSED', explanation: expect.stringContaining('nonce') });
  expect(await failureType(review.rollback({ reason: 'commit_failed' }))).toBe(FailureType.Validation);
  while (review.clock().getTime() <= Date.parse(forged.at) + plan.commitWindowMs);
  expect(await review.rollback({ reason: 'commit_failed' })).toMatchObject({ reason: 'commit_failed' });
  expect(await failedChecks(world, review)).toEqual([]);
});

/** The first reader of the rows reads them before those of these kinds were written. */
function readEarly({ ledger }: World, kinds: readonly string[]): void {
  const read = ledger.read.bind(ledger);
  let reads = 0;
  ledger.read = async (changeId) => {
    const isFirst = ++reads === 1;
    return (await read(changeId)).filter(({ row }) => !isFirst || !kinds.includes(row.kind));
  };
}

test('of a lost review names what was disclosed after its rows were read, so its evidence verifies', async () => {
  const world = evidenceWorld();
  const { steps: review } = await world.review({ table: 'public.prices', open: true });
  readEarly(world, ['disclosed']);
  expect(await endLostReview(review.deps, review.changeId, LOST)).toMatchObject({ reason: 'workflow_lost' });
  expect(await failedChecks(world, review)).toEqual([]);
});

test('that another process recorded, after a disclosure that this one has not read, names it too', async () => {
  const world = evidenceWorld();
  const { steps: review } = await world.review({ table: 'public.prices', open: true });
  const { deps, changeId } = review;
  await recordRepair(deps, changeId, LOST);
  await beginRollback(deps, changeId, { reason: 'workflow_lost', explanation: LOST.explanation });
  readEarly(world, ['disclosed', 'decided']);
  expect(await reconcile(deps, changeId, 'workflow_lost')).toMatchObject({ reason: 'workflow_lost' });
  expect(await failedChecks(world, review)).toEqual([]);
});

/** Runs `act` before the ledger is asked to record a rollback: the rows have been verified at this point. */
function beforeRollback({ ledger }: World, act: (times: number) => Promise<unknown>): void {
  const append = ledger.append.bind(ledger);
  let times = 0;
  ledger.append = async (changeId, entries, ...more) => {
    if (entries.some(({ kind }) => kind === 'decided')) await act(++times);
    return append(changeId, entries, ...more);
  };
}

async function stateByAlice(
  review: EvidenceReview,
  more: Pick<AnswerPredicate, 'decision'> & Partial<AnswerPredicate>,
): Promise<void> {
  const key = seededKey('alice');
  const violationId = review.disclosed?.violations[0]?.violationId ?? '';
  const statement = review.statement(key.keyId, { violationId, reason: 'No', nonce: 'late-0123456789abcdef', ...more });
  const { results } = await review.admit([signEnvelope(statement, key)]);
  expect(results).toMatchObject({ [violationId]: { code: 'accepted' } });
}

async function confirmationOfAlice({ ledger }: World, { changeId }: EvidenceReview): Promise<string> {
  const [row] = await ledger.readKinds(changeId, ['answer_accepted']);
  return String(row?.row.body['digest']);
}

const failedChecks = async (world: World, { changeId }: EvidenceReview) =>
  verifyEvidence(canonicalJson(await world.export(changeId)) + '\n', world.trust).checks.filter(
    ({ result }) => result === 'failed',
  );

describe.each(['rollback', 'reconcile'] as const)(
  'a row that is recorded while `%s` verifies those before it',
  (which) => {
    const end = (review: EvidenceReview): Promise<unknown> =>
      which === 'rollback' ? review.rollback({ reason: 'commit_failed' }) : review.reconcile();

    test('gives the reason if it is a reject, and the evidence verifies', async () => {
      const { world, review } = await notCommitted();
      beforeRollback(world, async (times) => {
        if (times === 1) await stateByAlice(review, { decision: 'reject' });
      });
      expect(await end(review)).toMatchObject({ state: 'ROLLED_BACK', reason: 'declined' });
      expect(await failedChecks(world, review)).toEqual([]);
    });

    test('does not change that the commit window had passed if it takes a confirmation back after it, and the evidence verifies', async () => {
      const { world, review } = await notCommitted();
      const retracts = await confirmationOfAlice(world, review);
      beforeRollback(world, async (times) => {
        if (times === 1) await stateByAlice(review, { decision: 'retract', retracts });
      });
      expect(await end(review)).toMatchObject({ state: 'ROLLED_BACK', reason: 'commit_failed' });
      expect(await failedChecks(world, review)).toEqual([]);
    });

    test('is verified as well; after ten such rounds the activity is retried, and nothing was signed', async () => {
      const { world, review } = await notCommitted();
      const { ledger } = world;
      const read = ledger.read.bind(ledger);
      ledger.read = async (changeId) => (await read(changeId)).filter(({ row }) => row.body['flood'] === undefined);
      let rounds = 0;
      beforeRollback(world, (times) => {
        rounds = times;
        const row = { kind: 'attested', at: review.at(), factKey: `flood ${times}`, body: { flood: times } } as const;
        return ledger.append(review.changeId, [row]);
      });
      expect(await failureType(end(review))).toBe(FailureType.Store);
      expect(rounds).toBe(10);
      expect((await ledger.readKinds(review.changeId, ['decided', 'receipt'])).length).toBe(0);
    });
  },
);
