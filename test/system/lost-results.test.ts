import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import type { CommitDeps } from '../../activities/committer/commit-deps';
import type { CommitActivities, ReviewActivities } from '../../activities/review-types';
import type { AnswerPredicate, Decision } from '../../policy/contracts/answer';
import type { Envelope } from '../../policy/contracts/diff';
import { messageDigest, openEnvelope } from '../../policy/evidence/dsse';
import { signPredicate } from '../../signing/envelope';
import { newNonce } from '../../signing/nonce';
import { Reconciler } from '../../workers/reconciler/reconciler';
import { eventually } from '../support/eventually';
import { SHOP, shopBundle } from '../support/shop-bundle';
import { useSystem } from '../support/system';
import { update, waitingPrice } from './scenarios';

/** The result of an admission is lost: the ledger has the statement, and the workflow does not know it. */
/** Longer than a busy machine takes to disclose the violations and to admit an answer. */
const DEADLINE_S = 30;
const near = (id: number) => update(`update gifts set cents = 200 where id = ${id}`, 'gifts', 1);
const policies = `  - { key: near, name: Soon, match: { validatorIds: [guardian.gifts] }, deadline: ${DEADLINE_S}s }`;
const system = useSystem({
  ...SHOP,
  name: 'lost',
  bundleText: shopBundle({ policies }),
  wrap: (worker, activities) => {
    if (worker === 'commit') return held(activities as CommitActivities);
    return worker === 'review' ? withLostFindings(activities as ReviewActivities) : activities;
  },
});

/** A commit begins only after the test lets it. */
let holdCommit = false;
function held({ commit, ...others }: CommitActivities): CommitActivities {
  return {
    ...others,
    commit: async (input) => {
      while (holdCommit) await sleep(20);
      return commit(input);
    },
  };
}

/** Changes of which the workflow receives no findings, neither with the opening nor from `runGuardians`, although they have rows. */
const losesFindings = (metadata: Readonly<Record<string, unknown>>): boolean => metadata['loses'] === 'findings';
const opened = new Set<string>();
function withLostFindings(activities: ReviewActivities): ReviewActivities {
  return {
    ...activities,
    openReview: async (input) => {
      const result = await activities.openReview(input);
      if (!losesFindings(input.submission.metadata) || opened.has(input.changeId)) return result;
      opened.add(input.changeId);
      return { ...result, reported: { allowed: [], results: {} } };
    },
    runGuardians: async (input) => {
      const result = await activities.runGuardians(input);
      if (opened.has(input.changeId)) throw ApplicationFailure.nonRetryable('lost');
      return result;
    },
  };
}

const answerOf = (envelope: Envelope | undefined): AnswerPredicate => {
  const opened = openEnvelope('answer', envelope);
  if (!opened.ok) throw new Error('not an answer');
  return opened.statement.predicate;
};

const activities = (): ReviewActivities => system.activities.review as ReviewActivities;

async function answerIsLost(changeId: string, decision: Decision = 'confirm'): Promise<void> {
  const answers = system.sign(await system.waiting(changeId), 'alice', decision);
  const { results } = await activities().admitAnswer({
    ...{ changeId, closed: false, admitted: [], via: 'update' },
    message: { answers },
  });
  expect(Object.values(results)).toMatchObject([{ code: 'accepted' }]);
}

async function withdrawalIsLost(changeId: string): Promise<void> {
  const key = system.key('agent');
  const issuedAt = new Date().toISOString();
  const members = { changeId, actor: 'backend', reason: 'not needed', nonce: newNonce(), issuedAt, keyId: key.keyId };
  const message = { statement: signPredicate('withdraw', members, key) };
  const { result } = await activities().admitWithdrawal({ changeId, kind: 'withdraw', message, via: 'update' });
  expect(result.code).toBe('accepted');
}

/** As the committer runs it, with a short grace period. */
function reconciler(): Reconciler {
  const { commit } = system.resources;
  return new Reconciler({
    db: commit.db,
    deps: commit as unknown as CommitDeps,
    temporal: system.temporal,
    graceMs: 2_000,
    logger: { info: () => {}, warn: () => {}, error: () => {} },
    count: () => {},
  });
}

async function allWoken(changeIds: readonly string[]): Promise<void> {
  const passes = reconciler();
  await eventually(
    'the reconciler wakes the workflows',
    async () => {
      await passes.pass();
      const rows = await Promise.all(changeIds.map((changeId) => system.ledger(changeId)));
      return rows.every((each) => each.some(({ row }) => row.body['did'] === 'woken'));
    },
    { withinMs: 60_000, everyMs: 500 },
  );
}

describe('beside reviews that wait for their deadline', () => {
  let confirmed: string;
  let withdrawn: string;
  // Both wait for their deadlines while the first tests run.
  beforeAll(async () => {
    const lost = async (row: number, lose: (changeId: string) => Promise<void>): Promise<string> => {
      const { changeId } = await system.submit(near(row));
      await system.waiting(changeId);
      await lose(changeId);
      return changeId;
    };
    [confirmed, withdrawn] = await Promise.all([lost(1, answerIsLost), lost(2, withdrawalIsLost)]);
  });

  test('a commit that is refused because of a retraction whose result was lost waits for answers again', async () => {
    const { changeId } = await system.submit(waitingPrice(4));
    const status = await system.waiting(changeId);
    const [confirmation] = system.sign(status, 'alice', 'confirm');
    const retraction = signPredicate(
      'answer',
      {
        ...answerOf(confirmation),
        decision: 'retract',
        retracts: messageDigest(confirmation),
        nonce: newNonce(),
        issuedAt: new Date().toISOString(),
      },
      system.key('alice'),
    );
    holdCommit = true;
    await system.countersign.answer(changeId, [confirmation as Envelope]);
    const { results } = await activities().admitAnswer({
      ...{ changeId, closed: false, admitted: [], via: 'update' },
      message: { answers: [retraction] },
    });
    expect(Object.values(results)).toMatchObject([{ code: 'accepted' }]);
    holdCommit = false;
    await eventually('the commit was refused', async () =>
      (await system.ledger(changeId)).some(({ row }) => row.kind === 'refused'),
    );
    await system.answer(changeId, 'bob', 'confirm');
    expect(await system.ended(changeId)).toMatchObject({ state: 'COMMITTED', verified: true });
  });

  test('findings that have rows count, although the results of all attempts of the guardians were lost', async () => {
    const change = update('update items set stock = stock + 1 where id = 1', 'items', 1);
    const { changeId } = await system.submit({ ...change, metadata: { ...change.metadata, loses: 'findings' } });
    expect(await system.ended(changeId)).toMatchObject({ state: 'COMMITTED', verified: true });
    const status = await system.countersign.status(changeId);
    expect(status.findings.map(({ status: found }) => found)).not.toContain('ERROR');
  });

  test('an answer that was recorded before the deadline counts, although its result was lost', async () => {
    expect(await system.ended(confirmed)).toMatchObject({ state: 'COMMITTED', verified: true });
  });

  test('a withdrawal whose result was lost ends the review as withdrawn at its deadline', async () => {
    expect(await system.ended(withdrawn)).toMatchObject({
      state: 'ROLLED_BACK',
      outcome: { reason: 'withdrawn' },
      verified: true,
    });
  });
});

test('the reconciler wakes workflows that do not know a recorded answer or withdrawal, long before their deadline', async () => {
  const waiting = async (row: number) => {
    const { changeId } = await system.submit(waitingPrice(row));
    await system.waiting(changeId);
    return changeId;
  };
  const [confirmed, rejected, withdrawn] = [await waiting(1), await waiting(2), await waiting(3)];
  await answerIsLost(confirmed);
  await answerIsLost(rejected, 'reject');
  await withdrawalIsLost(withdrawn);
  await allWoken([confirmed, rejected, withdrawn]);
  expect(await system.ended(confirmed)).toMatchObject({ state: 'COMMITTED', verified: true });
  expect(await system.ended(rejected)).toMatchObject({ state: 'ROLLED_BACK', outcome: { reason: 'declined' } });
  expect(await system.ended(withdrawn)).toMatchObject({ state: 'ROLLED_BACK', outcome: { reason: 'withdrawn' } });
});
