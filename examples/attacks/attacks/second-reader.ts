/** Attacks that were written from the documentation and the schema alone: orderings, forged state, and roles of the database. */
import { createHash, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { query } from '../../../dev/query';
import { GatewayClient } from '../../../client/gateway-client';
import { createSigner } from '../../../client/signer';
import type { ReviewStatus } from '../../../policy/contracts/status';
import { signPredicate } from '../../../signing/envelope';
import { canonicalJson } from '../../../policy/contracts/canonical-json';
import { newKeyPair, newNonce, type SigningKey } from '../../../signing/keys';
import { raisePay, refundOrder, topUp, type Attack, type Attempt } from '../attack';
import { pause } from '../namespace-writer';
import type { Row, Testbed } from '../testbed';

type Role = 'cs_gateway' | 'cs_judge' | 'cs_review';
const ROUNDS = 4;
const ACCEPTED = 'accepted';

const named = (name: string, run: Attack['run']): Attack => ({ name: `second reader: ${name}`, run });

/** An attack whose success is only what `achieved` says. */
const judged = (changeId: string, achieved: string | null): Attempt => ({
  changeId,
  refusal: null,
  check: () => Promise.resolve(achieved),
});

/** Sends answers; the code of each, or `closed` if the review ended first. */
const send = (testbed: Testbed, { changeId }: ReviewStatus, answers: readonly unknown[]): Promise<string[]> =>
  testbed.update(changeId, answers).catch(() => ['closed']);

async function paidOut(testbed: Testbed, changeId: string, withinMs = 6_000): Promise<boolean> {
  for (const until = Date.now() + withinMs; Date.now() < until; await pause(100)) {
    const closed = (await testbed.rows(changeId)).find(({ kind }) => kind === 'closed');
    if (closed !== undefined) break;
  }
  return (await testbed.rows(changeId)).some(({ kind, body }) => kind === 'effect' && body['state'] === 'COMMITTED');
}

const at = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** An envelope around any statement, made without our code: our own would refuse to sign most of these. */
function envelope(kind: string, subject: object[], predicate: object, { keyId, privateKey }: SigningKey) {
  const payloadType = 'application/vnd.in-toto+json';
  const predicateType = `https://countersign.dev/${kind}/v1`;
  const text = canonicalJson({ _type: 'https://in-toto.io/Statement/v1', subject, predicateType, predicate } as never);
  const signed = `DSSEv1 ${payloadType.length} ${payloadType} ${Buffer.byteLength(text)} ${text}`;
  const sig = sign(null, Buffer.from(signed), privateKey).toString('base64');
  return { payloadType, payload: Buffer.from(text).toString('base64'), signatures: [{ keyid: keyId, sig }] };
}

/** An answer of any kind of statement and any decision to the first violation. */
function rawAnswer(status: ReviewStatus, key: SigningKey, decision: string, { kind = 'answer', ...more }: Raw = {}) {
  const { changeId, fingerprint, tenant, target } = status;
  const violationId = status.violations.find(({ need }) => need === 'human')?.violationId ?? '';
  const subject = [
    { name: 'change', digest: { sha256: changeId } },
    { name: 'violation', digest: { sha256: violationId } },
  ];
  const predicate = {
    changeId,
    fingerprint,
    violationId,
    decision,
    reason: 'seen',
    keyId: key.keyId,
    context: { tenant, target, environment: 'development' },
    coverage: null,
    retracts: null,
    nonce: newNonce(),
    issuedAt: at(0),
    expiresAt: at(600_000),
    ...more,
  };
  return envelope(kind, subject, predicate, key);
}

/** Takes back the answer in this envelope. */
const retract = (status: ReviewStatus, key: SigningKey, confirm: readonly unknown[], more: Raw = {}) => {
  const retracts = createHash('sha256')
    .update(canonicalJson(confirm[0] as never))
    .digest('hex');
  return [rawAnswer(status, key, 'retract', { retracts, ...more })];
};

interface Raw {
  readonly retracts?: string;
  readonly kind?: string;
  readonly issuedAt?: string;
  readonly expiresAt?: string;
}

/** A change with a quorum of two: alice confirms and takes it back in one of several orders, then bob confirms. */
function takenBack(
  name: string,
  id: number,
  order: (testbed: Testbed, status: ReviewStatus) => Promise<readonly string[]>,
): Attack {
  return named(name, async (testbed) => {
    const status = await testbed.submitAndWait(raisePay(id));
    const codes = await order(testbed, status);
    const last = await send(testbed, status, testbed.sign(status, testbed.keyOf('bob')));
    const committed = await paidOut(testbed, status.changeId);
    const said = `alice: ${codes.join(', ')}; bob: ${last.join(', ')}`;
    return judged(status.changeId, committed ? `committed after alice took her confirmation back (${said})` : null);
  });
}

/** Two messages at the same moment, several times: never may one that stops a change be accepted and the change be committed. */
function race(
  name: string,
  first: number,
  stop: (testbed: Testbed, status: ReviewStatus, confirm: readonly unknown[]) => Promise<string>,
): Attack {
  return named(name, async (testbed) => {
    let achieved: string | null = null;
    let changeId = '';
    for (let i = 0; i < ROUNDS; i++) {
      const status = await testbed.submitAndWait(raisePay(first + i));
      ({ changeId } = status);
      const given = testbed.sign(status, testbed.keyOf('alice'));
      await send(testbed, status, given);
      const confirm = testbed.sign(status, testbed.keyOf('bob'));
      const [code] = await Promise.all([
        stop(testbed, status, given).catch(() => 'closed'),
        pause(i * 15).then(() => send(testbed, status, confirm)),
      ]);
      if ((await paidOut(testbed, changeId)) && code === ACCEPTED) achieved = `round ${i}: accepted, and committed`;
    }
    await testbed.baseline();
    return judged(changeId, achieved);
  });
}

export async function append(
  testbed: Testbed,
  role: Role,
  changeId: string,
  row: { readonly kind?: string; readonly body?: string; readonly fact?: string; readonly at?: string },
  projection: string | null = null,
): Promise<string | null> {
  const { kind = 'refused', body = '{}', fact = `second:${Math.random()}` } = row;
  return query(
    testbed.dev.setup.databaseUrls[role],
    `select * from ledger_append($1, array[$2], array[$3], array[$4], array[$5], '{null}', '{null}', $6::json)`,
    [changeId, kind, row.at ?? at(0), body, fact, projection],
  ).then(
    () => null,
    (error: unknown) => String(error),
  );
}

/** After the attack alice confirms a refund as usual. What an honest user then sees that is wrong, or null. */
async function honestEnd(testbed: Testbed, status: ReviewStatus): Promise<string | null> {
  const { changeId } = status;
  const shown = await testbed.cli('show', changeId);
  if (!shown.out.includes('guardian.orders')) return `show fails: ${shown.err.slice(0, 300)}`;
  const codes = await send(testbed, status, testbed.sign(status, testbed.keyOf('alice')));
  if (codes.some((code) => code !== ACCEPTED)) return `alice's answer gives ${codes.join(', ')}`;
  return verifiedEnd(testbed, changeId);
}

let files = 0;
async function verifiedEnd(testbed: Testbed, changeId: string): Promise<string | null> {
  const result = await testbed.ended(changeId).catch((error: unknown) => ({ state: String(error), verified: false }));
  await testbed.baseline();
  if (result.state !== 'COMMITTED' || result.verified !== true)
    return `an approved change is ${result.state}, verified: ${String(result.verified)}`;
  const { stateDir } = testbed.dev.runtime;
  const file = join(stateDir, `${changeId}.${++files}.second.json`);
  const exported = await testbed.cli('export', changeId, '--out', file);
  if (exported.code !== 0) return `export fails: ${exported.err.slice(0, 300)}`;
  const { code, out } = await testbed.cli('verify', file, '--trust', join(stateDir, 'evidence-trust.json'), '--json');
  return code === 0 ? null : `verify exits with ${code}: ${out.slice(0, 600)}`;
}

/** Rows of a role that is not the committer's, appended to an open review, then the review goes on. */
function ofRole(name: string, id: number, rows: readonly Parameters<typeof append>[3][], role: Role = 'cs_gateway') {
  return named(name, async (testbed) => {
    const status = await testbed.submitAndWait(refundOrder(id));
    const refusals: string[] = [];
    for (const row of rows) {
      const refusal = await append(testbed, role, status.changeId, row);
      if (refusal !== null) refusals.push(refusal);
    }
    const wrong = await honestEnd(testbed, status);
    return judged(status.changeId, wrong === null ? null : `${wrong} [database refused: ${refusals.join('; ')}]`);
  });
}

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
      plan: { ...plan, validators: plan.validators.filter(({ id }) => id !== 'guardian.orders') },
      planHash,
      inputSha: status.inputSha,
      requester: 'mallory',
      results: {},
      channels: [],
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
    await handle.terminate('maintenance').catch(() => undefined);
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

const decidedWords = (rows: readonly Row[]): string =>
  String(rows.find(({ kind }) => kind === 'decided')?.body['explanation'] ?? '');

async function stoppedInTheNameOf(
  testbed: Testbed,
  id: number,
  message: 'withdraw' | 'supersede',
  payload: object,
): Promise<Attempt> {
  const { changeId } = await testbed.submitAndWait(refundOrder(id));
  const { code } = await testbed.sendUpdate(changeId, message, payload);
  if (code !== ACCEPTED) return judged(changeId, null);
  const { state, verified } = await testbed.ended(changeId);
  const words = decidedWords(await testbed.rows(changeId));
  return judged(changeId, `${state}, verified: ${String(verified)}, the signed explanation says "${words}"`);
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
  for (let i = 0; i < times; i++) await client.list().catch(() => null);
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

/** Without the operator's key, but with the operator's role in the database: an unfreeze with the highest number. */
async function forgedUnfreeze(testbed: Testbed): Promise<Attempt> {
  const file = testbed.dev.setup.keys.operator.path;
  const cli = (verb: string) => testbed.cli('target', verb, 'shop', '--reason', 'audit', '--operator-key', file);
  const frozen = await cli('freeze');
  if (frozen.code !== 0) throw new Error(`freeze: ${frozen.err}`);
  const mallory = newKeyPair();
  const n = 2_147_483_647;
  const freeze = { target: 'shop', n, frozen: false, reason: 'ok', keyId: mallory.keyId, at: at(0) };
  await query(
    testbed.dev.setup.databaseUrls.cs_operator,
    'insert into target_freezes (target, n, envelope) values ($1, $2, $3)',
    ['shop', n, JSON.stringify(signPredicate('target-freeze', freeze as never, mallory))],
  );
  const changeId = await testbed.submit(topUp(23));
  const early = await paidOut(testbed, changeId, 5_000);
  const again = await cli('unfreeze');
  const later = early || (await paidOut(testbed, changeId, 20_000));
  await erase(testbed, 'target_freezes', `n = ${n}`);
  if (again.code !== 0) await cli('unfreeze');
  await testbed.baseline();
  if (early) return judged(changeId, 'a change was committed to a frozen target');
  return judged(
    changeId,
    later ? null : `the operator cannot unfreeze: exit code ${again.code} ${again.err.slice(0, 200)}`,
  );
}

/** Removes what an attack left in an append-only table, as the superuser. */
async function erase(testbed: Testbed, table: string, where: string): Promise<void> {
  const url = testbed.dev.runtime.postgres.superuserUrl('countersign');
  await query(
    url,
    `alter table ${table} disable trigger append_only; delete from ${table} where ${where}; alter table ${table} enable trigger append_only`,
  );
  await pause(1_100);
}

/** With the operator's role in the database and another key: rows in the tables that only an operator writes. */
function unsignedOperator(
  name: string,
  id: number,
  table: string,
  columns: string,
  values: (testbed: Testbed, keyId: string) => unknown[],
): Attack {
  return named(name, async (testbed) => {
    const key = await testbed.operator.addKey({ kind: 'approver', subject: { type: 'person', id: 'alice' } });
    const given = values(testbed, key.keyId);
    const places = given.map((_, i) => `$${i + 1}`).join(', ');
    await query(
      testbed.dev.setup.databaseUrls.cs_operator,
      `insert into ${table} (${columns}) values (${places})`,
      given,
    );
    await pause(1_100);
    try {
      const changeId = await testbed.submit(refundOrder(id));
      const status = await testbed.waiting(changeId).catch(() => null);
      if (status === null) return judged(changeId, 'an honest change is not opened or not shown');
      const codes = await send(testbed, status, testbed.sign(status, key));
      const wrong =
        codes.join() === ACCEPTED ? await verifiedEnd(testbed, changeId) : `an approver's answer gives ${codes.join()}`;
      return judged(changeId, wrong);
    } finally {
      await erase(testbed, table, `${columns.split(',')[0] ?? ''} = '${String(given[0])}'`);
      await testbed.baseline();
    }
  });
}

const forgedRevocation = (keyId: string): string => {
  const predicate = { keyId, reason: 'left', revokedAt: at(0) };
  const subject = [{ name: 'key', digest: { sha256: keyId } }];
  return JSON.stringify(envelope('key-revocation', subject, predicate, newKeyPair()));
};

const deep = `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
const ODD = [
  'null',
  '[]',
  '"x"',
  '{ "b" : 1, "a" : 2 }',
  '{"a":1e999}',
  '{"a":"\\ud800"}',
  '{"a":1,"a":2}',
  '{"__proto__":{"x":1}}',
  '{"check":"\\u202e\\u001b[2J"}',
  deep,
];
const asRows = (bodies: readonly string[], kind = 'refused') => bodies.map((body) => ({ kind, body }));

/** Rows that are appended to a change after it was committed: its evidence must stay as good as it was. */
function afterTheEnd(name: string, id: number, rows: readonly Parameters<typeof append>[3][]): Attack {
  return named(name, async (testbed) => {
    const changeId = await testbed.submit(topUp(id));
    const before = await verifiedEnd(testbed, changeId);
    if (before !== null) throw new Error(`Without an attack: ${before}`);
    for (const row of rows) await append(testbed, 'cs_gateway', changeId, row);
    return judged(changeId, await verifiedEnd(testbed, changeId));
  });
}

export const SECOND_READER: readonly Attack[] = [
  takenBack('a confirm and a retract of the same instant', 11, async (testbed, status) => {
    const issuedAt = at(0);
    const alice = testbed.keyOf('alice');
    const confirm = testbed.sign(status, alice, 'confirm', { issuedAt });
    return [
      ...(await send(testbed, status, confirm)),
      ...(await send(testbed, status, retract(status, alice, confirm, { issuedAt }))),
    ];
  }),
  takenBack('a confirm and a retract of the same instant in one message', 12, async (testbed, status) => {
    const issuedAt = at(0);
    const alice = testbed.keyOf('alice');
    const confirm = testbed.sign(status, alice, 'confirm', { issuedAt });
    return send(testbed, status, [...confirm, ...retract(status, alice, confirm, { issuedAt })]);
  }),
  takenBack('a confirm of a clock that is ahead, then a retract of a right clock', 13, async (testbed, status) => {
    const alice = testbed.keyOf('alice');
    const ahead = { issuedAt: at(280_000), expiresAt: at(900_000) };
    const confirm = testbed.sign(status, alice, 'confirm', ahead);
    return [
      ...(await send(testbed, status, confirm)),
      ...(await send(testbed, status, retract(status, alice, confirm))),
    ];
  }),
  takenBack('a confirm, a retract and the same confirm again after a restart', 14, async (testbed, status) => {
    const alice = testbed.keyOf('alice');
    const confirm = testbed.sign(status, alice);
    const first = await send(testbed, status, confirm);
    await pause(5);
    const second = await send(testbed, status, retract(status, alice, confirm));
    const { submission } = await testbed.submissionOf(status.changeId);
    await testbed.temporal.workflow.getHandle(status.changeId).terminate('maintenance');
    await testbed.startReview(status.changeId, submission);
    await testbed.workflowWaits(status.changeId);
    return [...first, ...second, ...(await send(testbed, status, confirm))];
  }),
  race('a retract while the last confirm arrives', 15, async (testbed, status, confirm) =>
    testbed.update(status.changeId, retract(status, testbed.keyOf('alice'), confirm)).then(([code]) => code ?? ''),
  ),
  race('a withdrawal while the last confirm arrives', 19, async (testbed, status) =>
    testbed.countersign.withdraw(status.changeId, { actor: 'dana', reason: 'no' }).then(({ code }) => code),
  ),
  race('a reject while the last confirm arrives', 23, async (testbed, status) => {
    const reject = testbed.sign(status, testbed.keyOf('alice'), 'reject');
    return (await testbed.update(status.changeId, reject))[0] ?? '';
  }),
  named('a reject and a confirm in one message', async (testbed) => {
    const status = await testbed.submitAndWait(refundOrder(20));
    const answers = [
      ...testbed.sign(status, testbed.keyOf('bob'), 'reject'),
      ...testbed.sign(status, testbed.keyOf('alice')),
    ];
    await send(testbed, status, answers.reverse());
    const rows = async (): Promise<boolean> =>
      (await testbed.rows(status.changeId)).some(
        ({ kind, body }) => kind === 'answer_accepted' && JSON.stringify(body).includes('reject'),
      );
    const committed = await paidOut(testbed, status.changeId);
    return judged(status.changeId, committed && (await rows()) ? 'committed although a reject was accepted' : null);
  }),
  named('the words of an answer in a statement of another kind', async (testbed) => {
    const status = await testbed.submitAndWait(refundOrder(24));
    const alice = testbed.keyOf('alice');
    for (const kind of [
      'submission',
      'effect-resolution',
      'target-freeze',
      'breaker-reset',
      'receipt',
      'Answer',
      'answer/v1#',
    ])
      await send(testbed, status, [rawAnswer(status, alice, 'confirm', { kind })]);
    // Control: the same envelope with the right kind is an answer.
    const other = await testbed.submitAndWait(refundOrder(10));
    const [code] = await send(testbed, other, [rawAnswer(other, alice, 'confirm')]);
    if (code !== ACCEPTED || !(await paidOut(testbed, other.changeId))) throw new Error(`The control gives ${code}`);
    await testbed.target(`update orders set status = 'paid' where id = 10`);
    await testbed.baseline();
    if (await paidOut(testbed, status.changeId, 1_000)) return judged(status.changeId, 'committed');
    return { changeId: status.changeId, refusal: ({ kind }) => kind === 'answer_refused' };
  }),
  named('a withdrawal in the name of an approver, without a signature', (testbed) =>
    stoppedInTheNameOf(testbed, 25, 'withdraw', { actor: 'alice', reason: 'I do not approve this' }),
  ),
  named('superseded by a change that does not exist', (testbed) =>
    stoppedInTheNameOf(testbed, 26, 'supersede', { by: 'a'.repeat(64), actor: 'dana', reason: 'a better one' }),
  ),
  named('every activity with the id of a change that is not opened yet', beforeTheOpening),
  named('a workflow with a forged second argument', carriedState),
  named('requests to the gateway, replayed and changed', requestReplay),
  ofRole('a row of the gateway’s role from the year 9999', 27, [{ at: '9999-12-31T23:59:59.999Z' }]),
  ofRole('a row of the gateway’s role at a time that is none', 28, [{ at: '-'.repeat(20) }, { at: '.'.repeat(30) }]),
  ofRole('a row of the gateway’s role from the past', 29, [{ at: '1970-01-01T00:00:00.000Z' }]),
  ofRole('a row of the gateway’s role that is not JSON', 30, asRows(['not json'])),
  ofRole('rows of the gateway’s role that are odd JSON', 10, asRows(ODD)),
  ofRole('refused answers of the gateway’s role that are odd JSON', 1, asRows(ODD, 'answer_refused')),
  ofRole('rows `spent` of the gateway’s role in an enforced change', 2, asRows(['{}'], 'spent')),
  ofRole('records of the judge’s role that are odd JSON', 3, asRows(ODD, 'attested'), 'cs_judge'),
  ofRole('empty records of the judge’s role', 5, asRows(['{}'], 'attested'), 'cs_judge'),
  ofRole(
    'findings of the review worker’s role that allow what is held',
    4,
    asRows(
      [
        '{"class":"POLICY","detectedAt":"preflight","evidenceRefs":[],"reason":"","status":"ALLOW","validator_id":"guardian.orders"}',
      ],
      'findings',
    ),
    'cs_review',
  ),
  afterTheEnd('a row of the gateway’s role after the end, not JSON', 16, asRows(['not json'])),
  afterTheEnd('a row of the gateway’s role after the end, odd JSON', 17, asRows(ODD)),
  afterTheEnd('a row of the gateway’s role after the end, at a time that is none', 18, [{ at: '-'.repeat(20) }]),
  afterTheEnd('a row `spent` of the gateway’s role after the end', 19, asRows(['{}'], 'spent')),
  named('rows of the gateway’s role before a change is opened', async (testbed) => {
    const { changeId, submission } = await testbed.prepared(topUp(22));
    for (const kind of ['refused', 'answer_refused', 'spent']) await append(testbed, 'cs_gateway', changeId, { kind });
    await testbed.startReview(changeId, submission);
    return judged(changeId, await verifiedEnd(testbed, changeId));
  }),
  named('a refusal of the gateway’s role that also writes the list', async (testbed) => {
    const status = await testbed.submitAndWait(refundOrder(5));
    const { changeId } = status;
    for (const state of ['COMMITTED', 'ROLLED_BACK'])
      await append(
        testbed,
        'cs_gateway',
        changeId,
        {},
        JSON.stringify({
          state,
          reason: 'declined',
          pending: 0,
          closed_at: at(0),
          closedAt: at(0),
          closed: true,
          summary: 'ok',
          requester: 'alice',
          tenant: 'other',
        }),
      );
    const [row] = await query(
      testbed.dev.runtime.postgres.superuserUrl('countersign'),
      'select * from reviews where change_id = $1',
      [changeId],
    );
    const moved =
      row?.['state'] !== 'INTERVENTION_REQUIRED' ||
      row['closed_at'] !== null ||
      row['tenant'] !== 'default' ||
      row['pending'] !== 1;
    const wrong = await honestEnd(testbed, status);
    return judged(changeId, moved ? `the list says ${JSON.stringify(row)}` : wrong);
  }),
  named('an unfreeze with the operator’s role and another key', forgedUnfreeze),
  unsignedOperator(
    'a revocation with the operator’s role and another key',
    6,
    'key_revocations',
    'key_id, envelope',
    (_, keyId) => [keyId, forgedRevocation(keyId)],
  ),
  unsignedOperator(
    'a policy revision with the operator’s role and another key',
    7,
    'policy_revisions',
    'revision, bundle_sha, source, envelope',
    () => [2_147_483_647, 'a'.repeat(64), 'version: 1', forgedRevocation('x')],
  ),
  unsignedOperator(
    'a policy revision with the operator’s role and no signature',
    8,
    'policy_revisions',
    'revision, bundle_sha, source',
    () => [2_147_483_646, 'b'.repeat(64), ''],
  ),
];
