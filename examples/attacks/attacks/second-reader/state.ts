/** Activities before their time, forged state of a workflow, and requests that are sent again. */
import { setTimeout as pause } from 'node:timers/promises';
import { toHistoryPlan } from '../../../../policy/contracts/history-plan';
import type { Carried } from '../../../../workflows/review-state';
import { startLoopbackServer } from '../../../../dev/fixtures/loopback-server';
import { refundOrder, refused, topUp, withoutRow, type Attack, type Attempt } from '../../attack';
import { ifRefused } from '../../if-refused';
import { allowedOutcomes, forgedState, restartWith } from '../../forged-state';
import type { Testbed } from '../../testbed';
import { named, verifiedEnd } from './common';

/** What each activity says of a change that is not opened: words of its failure, or of its result. */
const NOT_OPENED = {
  commit: 'chain: there are no rows',
  rollback: 'expected a change that was opened',
  reconcile: 'expected a change that was opened',
  stage: 'expected the id of a change that was opened',
  admitAnswer: 'no such change was opened',
  disclose: 'expected the id of a change that was opened',
  openReview: 'workflowId: expected the id of this change',
} as const;

/** Calls every activity with the id of a change before its requester opens it. */
async function beforeTheOpening(testbed: Testbed): Promise<Attempt> {
  const { changeId, submission } = await testbed.prepared(topUp(21));
  const other = await testbed.submitAndWait(refundOrder(21));
  const { planHash, submission: theirs } = await testbed.submissionOf(other.changeId);
  const { stagingSha, fingerprint } = other;
  const ending = {
    submission,
    planHash,
    stagingSha,
    fingerprint,
    mode: 'enforced',
    reason: 'declined',
    explanation: 'no',
  };
  const inputs: Readonly<Record<keyof typeof NOT_OPENED, object>> = {
    commit: { planHash, stagingSha, fingerprint },
    rollback: { ...ending, inputSha: other.inputSha },
    reconcile: {},
    stage: {},
    admitAnswer: testbed.admission(other, testbed.sign(other, testbed.keyOf('agent'))),
    disclose: { stagingSha, unrecorded: {} },
    openReview: { submission: theirs },
  };
  const wrong: string[] = [];
  for (const [activity, words] of Object.entries(NOT_OPENED)) {
    const queue = ['commit', 'rollback', 'reconcile', 'stage'].includes(activity) ? 'commit' : 'review';
    const input = { ...inputs[activity as keyof typeof NOT_OPENED], changeId };
    const result = await testbed.attacker.schedule(activity, testbed.queues[queue], input);
    if (!JSON.stringify(result).includes(words)) wrong.push(`${activity}: ${JSON.stringify(result)}`);
  }
  const before = (await testbed.rows(changeId)).map(({ kind }) => kind);
  await testbed.startReview(changeId, submission);
  const end = await verifiedEnd(testbed, changeId);
  if (end !== null) wrong.push(`${end} [rows before the opening: ${before.join(', ')}]`);
  return withoutRow(changeId, 'each activity: the change is not opened', wrong.length === 0 ? null : wrong.join('; '));
}

/** The review is terminated and started again with a second argument, as if it were continued from another run. */
async function carriedState(testbed: Testbed): Promise<Attempt> {
  const { changeId } = await testbed.submitAndWait(refundOrder(22));
  const plan = await testbed.planOf(changeId);
  const carried = await forgedState(testbed, changeId);
  const without = { ...plan, validators: plan.validators.filter(({ id }) => id !== 'guardian.orders') };
  const forged: readonly Carried[] = [
    carried,
    { ...carried, opened: { ...carried.opened, plan: toHistoryPlan(without) }, outcomes: allowedOutcomes(without) },
    { ...carried, waitsFor: { what: 'effect', since: Date.now() }, state: 'COMMITTING' },
  ];
  const refusal = refused('decision', '1 violations lack a valid answer');
  for (const state of forged) {
    await restartWith(testbed, changeId, state);
    await testbed.waitForRow(changeId, refusal);
    await pause(3_000);
  }
  const shown = await testbed.cli('result', changeId);
  const lies = /COMMITTED/.test(shown.out) && !/unverified|NOT VERIFIED/.test(shown.out);
  return {
    changeId,
    refusal,
    achieved: lies ? `result shows: ${shown.out.slice(0, 300)}` : null,
  };
}

/** The authorization of requests that a client meant to send. */
async function captured(testbed: Testbed, times: number): Promise<string[]> {
  const seen: string[] = [];
  const server = await startLoopbackServer((request, response) => {
    seen.push(`${request.method ?? ''} ${request.url ?? ''} ${request.headers.authorization ?? ''}`);
    response.writeHead(500).end('{}');
  });
  const client = testbed.gateway(testbed.keyOf('agent'), { baseUrl: server.url });
  for (let i = 0; i < times; i++) await ifRefused(client.list(), ['HTTP status 500'], null);
  await server.stop();
  return seen;
}

async function requestReplay(testbed: Testbed): Promise<Attempt> {
  const { changeId } = await testbed.submitAndWait(refundOrder(23));
  const [a = '', b = '', c = '', d = ''] = await captured(testbed, 4);
  const [, path = ''] = a.split(' ');
  const call = async (line: string, to: string, method = 'GET'): Promise<number> =>
    (
      await fetch(`${testbed.dev.gatewayUrl}${to}`, {
        method,
        headers: { authorization: line.split(' ').slice(2).join(' ') },
      })
    ).status;
  const many = await Promise.all(Array.from({ length: 20 }, () => call(a, path)));
  const others = [
    await call(b, `${path}${path.includes('?') ? '&' : '?'}limit=500`),
    await call(c, `/v1/reviews/${changeId}`),
    await call(d, path, 'POST'),
    await call(d, `/v1/../v1/reviews/${changeId}`),
  ];
  const served = many.filter((status) => status === 200).length;
  const unsigned = many.filter((status) => status === 401).length;
  const wrong = served !== 1 || unsigned !== 19 || others.some((status) => status !== 401);
  const answers = `the same request: ${many.join(' ')}, changed: ${others.join(' ')}`;
  return withoutRow(changeId, 'gateway: unauthenticated', wrong ? answers : null);
}

export const STATE: readonly Attack[] = [
  named('every activity with the id of a change that is not opened yet', beforeTheOpening),
  named('a workflow with a forged second argument', carriedState),
  named('requests to the gateway, replayed and changed', requestReplay),
];
