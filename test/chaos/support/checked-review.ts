import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import type { LedgerLine, Observed } from '../../../chaos/sweep/rules/review';

/** Builds reviews as the sweep observes them, to break one thing at a time. */
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
export const committer = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');

const CHANGE = 'c'.repeat(64);
export const EFFECT = { transaction: '7', tables: [] };
const WRITTEN_AT = new Date('2026-01-01T00:00:30.000Z');

export type Facts = readonly (readonly [kind: string, body: object])[];
interface Envelope {
  readonly payloadType: string;
  readonly payload: string;
  readonly signatures: readonly { readonly sig: string }[];
}

export function signed(predicate: object): Envelope {
  const payloadType = 'application/vnd.in-toto+json';
  const payload = Buffer.from(JSON.stringify({ predicate }));
  const head = Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `);
  const sig = sign(null, Buffer.concat([head, payload]), privateKey).toString('base64');
  return { payloadType, payload: payload.toString('base64'), signatures: [{ sig }] };
}
export const unsigned = (envelope: Envelope): Envelope => ({
  ...envelope,
  signatures: [{ sig: Buffer.alloc(64).toString('base64') }],
});

/** The row `head` has the body HEAD until its row before it is known. */
const HEAD = {};

export function ledgerOf(facts: Facts): LedgerLine[] {
  let prev = '0'.repeat(64);
  return facts.map(([kind, content], n) => {
    const head = content === HEAD ? { envelope: signed({ changeId: CHANGE, rows: n, hash: prev }) } : content;
    const [actor, at, body] = ['test', `2026-01-01T00:00:${String(n).padStart(2, '0')}.000Z`, JSON.stringify(head)];
    const text = `{"actor":"test","at":"${at}","body":${body},"changeId":"${CHANGE}","kind":"${kind}","n":${n},"prev":"${prev}","type":"countersign/ledger/v1"}`;
    const hash = createHash('sha256').update(text).digest('hex');
    const line = { n, prev, hash, kind, at, actor, body };
    prev = hash;
    return line;
  });
}

export const USUAL = { validator_id: 'usual', class: 'POLICY', status: 'BLOCK' };
export const VIOLATION = { violationId: 'v', validatorId: 'usual', need: 'human', quorum: 1, fourEyes: true };
export const DISCLOSED = { fingerprint: 'f', stagingSha: 's', findings: [USUAL, 'dues'], violations: [VIOLATION] };
export const ANSWER = { violationId: 'v', fingerprint: 'f', decision: 'confirm', person: 'alice' };
export const INTENT = { fingerprint: 'f', planHash: 'p', stagingSha: 's' };
export const RECEIPT = signed({ changeId: CHANGE, state: 'COMMITTED', reason: null, effect: EFFECT });

const judged = (status: string) => signed({ kind: 'judge', result: { validator_id: 'judge', status } });
export const JUDGE_BLOCKS = ['attested', { envelope: judged('BLOCK') }] as const;

const BEFORE: Facts = [
  ['submitted', { requester: 'dana' }],
  ['planned', { planHash: 'p' }],
  ['findings', { findings: [USUAL, { validator_id: 'dues', class: 'POLICY', status: 'ALLOW' }] }],
  ['staged', { stagingSha: 's' }],
  ['attested', { envelope: judged('ALLOW') }],
  ['disclosed', DISCLOSED],
  ['answer_accepted', ANSWER],
];

export const COMMITTED: Facts = [
  ...BEFORE,
  ['intent', INTENT],
  ['effect', { state: 'COMMITTED', effect: EFFECT }],
  ['receipt', { envelope: RECEIPT }],
  ['closed', { state: 'COMMITTED', reason: null }],
  ['head', HEAD],
];

export function observed(facts: Facts, more: Partial<Observed> = {}): Observed {
  return {
    changeId: CHANGE,
    effects: 1,
    marker: { effect: EFFECT },
    writtenAt: WRITTEN_AT,
    ledger: ledgerOf(facts),
    workflow: { status: 'COMPLETED', outcome: { state: 'COMMITTED', reason: null, receipt: RECEIPT }, resets: 0 },
    ...more,
  };
}

/** A review that was rolled back for this reason, with these rows before the settlement, and the members of its rows that differ. */
export function rolledBack(reason: string, before: Facts, rows: Readonly<Record<string, object>> = {}): Observed {
  const end = { state: 'ROLLED_BACK', reason };
  const receipt = signed({ changeId: CHANGE, ...end, effect: null });
  const facts: Facts = [
    ...before,
    ['decided', { reason }],
    ['effect', { state: 'ROLLED_BACK', effect: null }],
    ['receipt', { envelope: receipt }],
    ['closed', end],
    ['head', HEAD],
  ];
  return observed(
    facts.map(([kind, body]) => [kind, rows[kind] === undefined ? body : { ...body, ...rows[kind] }]),
    {
      effects: 0,
      marker: null,
      writtenAt: null,
      workflow: { status: 'COMPLETED', outcome: { ...end, receipt }, resets: 0 },
    },
  );
}
export const REJECTED: Facts = [...BEFORE.slice(0, -1), ['answer_accepted', { ...ANSWER, decision: 'reject' }]];

export const without = (...kinds: readonly string[]): Facts => COMMITTED.filter(([kind]) => !kinds.includes(kind));
/** The committed review with another body of one row. */
export const swapped = (kind: string, body: object): Facts =>
  COMMITTED.map((fact) => (fact[0] === kind ? [kind, body] : fact));
/** The committed review with more rows before the first row of this kind. */
export const insertedBefore = (kind: string, ...more: Facts): Facts =>
  COMMITTED.flatMap((fact): Facts => (fact[0] === kind ? [...more, fact] : [fact]));
