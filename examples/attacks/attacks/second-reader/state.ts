/** Activities before their time, forged state of a workflow, and requests that are sent again. */
import { toHistoryPlan } from '../../../../policy/contracts/history-plan';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayClient } from '../../../../client/gateway-client';
import { createSigner } from '../../../../client/signer';
import { refundOrder, topUp, type Attack, type Attempt } from '../../attack';
import { ENDED, ifRefused } from '../../if-refused';
import { pause } from '../../namespace-writer';
import type { Testbed } from '../../testbed';
import { judged, named, verifiedEnd } from './common';

const SIX = ['commit', 'rollback', 'reconcile', 'stage', 'admitAnswer', 'disclose', 'openReview'] as const;

/** Calls every activity with the id of a change before its requester opens it. */
async function beforeTheOpening(testbed: Testbed): Promise<Attempt> {
  const { changeId, submission } = await testbed.prepared(topUp(21));
  const other = await testbed.submitAndWait(refundOrder(21));
  const reference = await testbed.reference(other.changeId);
  const outcome = { reason: 'declined', explanation: 'no', planHash: other.planHash, stagingSha: null, findings: [] };
  for (const activity of SIX) {
    const queue = ['commit', 'rollback', 'reconcile', 'stage'].includes(activity) ? 'commit' : 'review';
    const input = {
      ...reference,
      ...testbed.admission(other, testbed.sign(other, testbed.keyOf('agent'))),
      ...outcome,
      ...(activity === 'openReview' ? { submission: { ...submission, target: 'shop2' } } : {}),
      fingerprint: other.fingerprint,
      changeId,
    };
    await testbed.attacker.schedule(activity, testbed.queues[queue], input);
    if (activity === 'commit')
      await testbed.attacker.schedule(activity, testbed.queues.commit, {
        changeId,
        planHash: other.planHash,
        stagingSha: other.stagingSha,
        fingerprint: other.fingerprint,
      });
  }
  const before = (await testbed.rows(changeId)).map(({ kind }) => kind);
  await testbed.startReview(changeId, submission);
  const wrong = await verifiedEnd(testbed, changeId);
  return judged(changeId, wrong === null ? null : `${wrong} [rows before the opening: ${before.join(', ')}]`);
}

/** The review is terminated and started again with a second argument, as if it were continued from another run. */
async function carriedState(testbed: Testbed): Promise<Attempt> {
  const status = await testbed.submitAndWait(refundOrder(22));
  const { changeId } = status;
  const { submission, planHash } = await testbed.submissionOf(changeId);
  const plan = await testbed.planOf(changeId);
  const staged = (await testbed.rows(changeId)).find(({ kind }) => kind === 'staged');
  const carried = (more: object): object => ({
    waitsFor: { what: 'answers' },
    state: 'INTERVENTION_REQUIRED',
    opened: {
      plan: toHistoryPlan({ ...plan, validators: plan.validators.filter(({ id }) => id !== 'guardian.orders') }),
      planHash,
      requester: 'mallory',
      reported: { allowed: [], results: {} },
      warnings: [],
      openedAt: status.disclosedAt,
    },
    stagingSha: status.stagingSha,
    staging: staged?.body['record'],
    preflight: { changeId, planHash, provisional: true, forbidden: false, findings: [] },
    violations: [],
    fingerprint: status.fingerprint,
    disclosedAt: status.disclosedAt,
    reachable: [],
    warnings: [],
    answers: [],
    outcomes: [],
    tooManyViolations: null,
    counts: { since: Date.now(), byKind: { submit: 0, answer: 0, stop: 0 }, bySender: {} },
    dropped: 0,
    ...more,
  });
  const forged = [
    {},
    { waitsFor: { what: 'commit' }, state: 'COMMITTING' },
    { violations: status.violations.map((v) => ({ ...v, quorum: 0, need: 'none' })) },
  ];
  for (const more of forged) {
    const handle = testbed.temporal.workflow.getHandle(changeId);
    await ifRefused(handle.terminate('maintenance'), ENDED, null);
    await testbed.temporal.workflow.start('review', {
      workflowId: changeId,
      taskQueue: testbed.queues.review,
      args: [submission, carried(more)],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
    await testbed.temporal.workflow.getHandle(changeId).signal('answer', { answers: [] });
    await pause(1_500);
  }
  await pause(3_000);
  const shown = await testbed.cli('result', changeId);
  const lies = /COMMITTED/.test(shown.out) && !/unverified|NOT VERIFIED/.test(shown.out);
  return judged(changeId, lies ? `result shows: ${shown.out.slice(0, 300)}` : null);
}

/** The authorization of requests that a client meant to send. */
async function captured(testbed: Testbed, times: number): Promise<string[]> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method ?? ''} ${request.url ?? ''} ${request.headers.authorization ?? ''}`);
    response.writeHead(500).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new GatewayClient({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tenant: 'default',
    serviceKey: createSigner(testbed.keyOf('agent')),
    trust: testbed.trust,
  });
  for (let i = 0; i < times; i++) await ifRefused(client.list(), ['HTTP status 500'], null);
  await new Promise<void>((resolve) => (server.close(() => resolve()), server.closeAllConnections()));
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
  const used = many.filter((status) => status === 200).length;
  const others = [
    ['another query', await call(b, `${path}${path.includes('?') ? '&' : '?'}limit=500`)],
    ['another path', await call(c, `/v1/reviews/${changeId}`)],
    ['another method', await call(d, path, 'POST')],
    ['a path with dots', await call(d, `/v1/../v1/reviews/${changeId}`)],
  ] as const;
  const wrong = others.filter(([, status]) => status < 400).map(([what]) => what);
  if (used !== 1) wrong.push(`the same request ${used} times` as never);
  return judged(changeId, wrong.length === 0 ? null : `the gateway served ${wrong.join(', ')}`);
}

export const STATE: readonly Attack[] = [
  named('every activity with the id of a change that is not opened yet', beforeTheOpening),
  named('a workflow with a forged second argument', carriedState),
  named('requests to the gateway, replayed and changed', requestReplay),
];
