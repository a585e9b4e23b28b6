import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { repairsOf, violationsOf, type LedgerLine, type Observed } from '../../chaos/sweep/check';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const committer = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
const CHANGE = 'c'.repeat(64);
const EFFECT = { transaction: '7', tables: [] };

type Facts = readonly (readonly [kind: string, body: object])[];

function receiptOf(predicate: object): { payloadType: string; payload: string; signatures: { sig: string }[] } {
  const payloadType = 'application/vnd.in-toto+json';
  const payload = Buffer.from(JSON.stringify({ predicate }));
  const signed = Buffer.concat([
    Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `),
    payload,
  ]);
  return {
    payloadType,
    payload: payload.toString('base64'),
    signatures: [{ sig: sign(null, signed, privateKey).toString('base64') }],
  };
}

function ledgerOf(facts: Facts): LedgerLine[] {
  let prev = '0'.repeat(64);
  return facts.map(([kind, content], n) => {
    const [actor, at, body] = ['test', `2026-01-01T00:00:0${n % 10}.000Z`, JSON.stringify(content)];
    const text = `{"actor":"test","at":"${at}","body":${body},"changeId":"${CHANGE}","kind":"${kind}","n":${n},"prev":"${prev}","type":"countersign/ledger/v1"}`;
    const hash = createHash('sha256').update(text).digest('hex');
    const line = { n, prev, hash, kind, at, actor, body };
    prev = hash;
    return line;
  });
}

const RECEIPT = receiptOf({ changeId: CHANGE, state: 'COMMITTED', reason: null, effect: EFFECT });
const ANSWER = [
  'answer_accepted',
  { violationId: 'v', fingerprint: 'f', decision: 'confirm', person: 'alice' },
] as const;
const COMMITTED: Facts = [
  ['submitted', {}],
  ['planned', {}],
  ['findings', { findings: [{ class: 'POLICY', status: 'BLOCK' }] }],
  ['disclosed', { fingerprint: 'f', violations: [{ violationId: 'v', need: 'human', quorum: 1 }] }],
  ANSWER,
  ['intent', {}],
  ['effect', { state: 'COMMITTED' }],
  ['receipt', { envelope: RECEIPT }],
  ['closed', { state: 'COMMITTED' }],
];

function observed(facts: Facts, more: Partial<Observed> = {}): Observed {
  return {
    changeId: CHANGE,
    effects: 1,
    marker: { effect: EFFECT, at: new Date('2026-01-01T00:00:30.000Z') },
    ledger: ledgerOf(facts),
    workflow: { status: 'COMPLETED', outcome: { state: 'COMMITTED', reason: null, receipt: RECEIPT }, resets: 0 },
    ...more,
  };
}
const without = (...kinds: readonly string[]): Facts => COMMITTED.filter(([kind]) => !kinds.includes(kind));
const swapped = (kind: string, body: object): Facts =>
  COMMITTED.map((fact) => (fact[0] === kind ? [kind, body] : fact));

test('the checker of the crash sweep reports nothing for a correct review', () => {
  expect(violationsOf(observed(COMMITTED), committer)).toEqual([]);
});

const BROKEN: readonly (readonly [string, Observed, string])[] = [
  ['an effect that was applied twice', observed(COMMITTED, { effects: 2 }), 'K1: 2 effects'],
  ['an effect without a marker', observed(COMMITTED, { marker: null }), 'K2: no marker, but 1 effects'],
  ['a marker without an effect', observed(COMMITTED, { effects: 0 }), 'K2: a marker, but 0 effects'],
  [
    'an effect under a sealed marker',
    observed(COMMITTED, { marker: { effect: { sealed: true }, at: new Date('2026-01-01T00:00:30.000Z') } }),
    'K2: no marker, but the ledger says COMMITTED',
  ],
  ['an effect without an answer', observed(without('answer_accepted')), 'K3: committed with 0 of 1 answers'],
  [
    'an answer that was accepted after the intent',
    observed([...without('answer_accepted', 'effect', 'receipt', 'closed'), ANSWER, ...COMMITTED.slice(-3)]),
    'K3: committed with 0 of 1 answers',
  ],
  [
    'an answer to another fingerprint',
    observed(swapped('answer_accepted', { ...ANSWER[1], fingerprint: 'g' })),
    'K3: committed with 0 of 1 answers',
  ],
  [
    'a reject',
    observed(swapped('answer_accepted', { ...ANSWER[1], decision: 'reject' })),
    'K3: committed despite a reject',
  ],
  [
    'a finding that fired and was not disclosed',
    observed(without('disclosed')),
    'K3: committed, but the findings that fired were not disclosed',
  ],
  [
    'a SAFETY BLOCK',
    observed(swapped('findings', { findings: [{ class: 'SAFETY', status: 'BLOCK' }] })),
    'K3: committed despite a SAFETY BLOCK',
  ],
  ['a missing intent', observed(without('intent')), 'K4: 0 settlements'],
  ['two settlements', observed([...COMMITTED, ['decided', {}]]), 'K4: 2 settlements'],
  [
    'an effect before its intent',
    observed(COMMITTED, { marker: { effect: EFFECT, at: new Date('2026-01-01T00:00:01.000Z') } }),
    'K4: the target was written before the intent',
  ],
  ['a missing closing row', observed(without('closed')), 'K5: 0 ledger rows of kind closed'],
  [
    'an open workflow',
    observed(COMMITTED, { workflow: { status: 'RUNNING', outcome: null, resets: 0 } }),
    'K5: the workflow is RUNNING',
  ],
  [
    'a workflow that was reset by hand',
    observed([...COMMITTED, ['repaired', { did: 'ended' }]], {
      workflow: { status: 'COMPLETED', outcome: { state: 'COMMITTED', reason: null, receipt: RECEIPT }, resets: 1 },
    }),
    'K5: the workflow was reset 1 times, by the reconciler 0 times',
  ],
  ['two outcomes', observed(swapped('effect', { state: 'ROLLED_BACK' })), 'K5: two outcomes: COMMITTED, ROLLED_BACK'],
  [
    'a receipt signed with another key',
    observed(
      swapped('receipt', { envelope: { ...RECEIPT, signatures: [{ sig: Buffer.alloc(64).toString('base64') }] } }),
    ),
    'K6: the receipt is not signed by the committer',
  ],
  [
    'a receipt with another outcome',
    observed(
      swapped('receipt', { envelope: receiptOf({ changeId: CHANGE, state: 'ROLLED_BACK', reason: 'declined' }) }),
    ),
    'K6: the receipt says ROLLED_BACK, but there are 1 effects',
  ],
  [
    'a workflow with another receipt',
    observed(COMMITTED, {
      workflow: {
        status: 'COMPLETED',
        outcome: { state: 'COMMITTED', reason: null, receipt: { ...RECEIPT, payload: '' } },
        resets: 0,
      },
    }),
    'K6: the workflow returned another receipt',
  ],
  [
    'a modified ledger row',
    observed(COMMITTED, {
      ledger: ledgerOf(COMMITTED).map((line) => (line.n === 2 ? { ...line, actor: 'other' } : line)),
    }),
    'K7: the hash chain of the ledger is broken at row 2',
  ],
];

test('the checker of the crash sweep accepts a target without markers, and compares its effects with the ledger', () => {
  expect(violationsOf(observed(COMMITTED, { marker: 'not kept' }), committer)).toEqual([]);
  expect(violationsOf(observed(COMMITTED, { marker: 'not kept', effects: 0 }), committer)).toContain(
    'K2: 0 effects, but the ledger says COMMITTED',
  );
});

test.each(BROKEN)('the checker of the crash sweep detects %s', (_what, seen, expected) => {
  expect(violationsOf(seen, committer)).toContain(expected);
});

test('the crash sweep lists what the reconciler did with a review and why, in the order of its rows', () => {
  const explanation = 'The workflow asks for an end that was refused';
  const ledger = ledgerOf([
    ['submitted', {}],
    ['repaired', { did: 'reset', found: 'task_fails', explanation: 'reset to event 4', runId: 'r', point: 4 }],
    ['repaired', { did: 'ended', found: 'refused_end', explanation, runId: 'r' }],
  ]);
  expect(repairsOf({ ledger })).toEqual([
    { did: 'reset', found: 'task_fails', explanation: 'reset to event 4' },
    { did: 'ended', found: 'refused_end', explanation },
  ]);
});
