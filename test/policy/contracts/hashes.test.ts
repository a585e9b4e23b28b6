import { utf8ToBytes } from '@noble/hashes/utils.js';
import { attestedInputDigest } from '../../../policy/contracts/attested';
import type { Submission } from '../../../policy/contracts/diff';
import { changeId, inputSha } from '../../../policy/contracts/change-id';
import type { ValidatorFinding } from '../../../policy/contracts/finding';
import { sha256Hex, typedHash, type HashName } from '../../../policy/contracts/hash';
import { ledgerHash, type LedgerRow } from '../../../policy/contracts/ledger';
import { planHash } from '../../../policy/contracts/plan';
import { stagingSha, type StagingRecord } from '../../../policy/contracts/staging-record';
import { findingsSha } from '../../../policy/decide/findings';
import { buildViolations, callbackResultsSha, fingerprint } from '../../../policy/decide/violations';
import { reversed } from '../../support/reversed';
import { findingOf, findingsOf, planOf, planValidator, policyOf, violationsOf } from '../../support/plan';

/** Which members change each hash, and which must not. planHash and logic_hash by member: test/policy/bundle/hashes.test.ts. */

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);

interface Case<T extends object> {
  readonly of: (value: T) => string;
  readonly value: T;
  /** New values for each member that the hash covers. */
  readonly moves: { readonly [K in keyof T]?: readonly unknown[] };
  /** A new value for each member that the hash does not cover. */
  readonly stays?: { readonly [key: string]: unknown };
}

function check<T extends object>(name: string, { of, value, moves, stays = {} }: Case<T>): void {
  describe(`${name}`, () => {
    const hash = of(value);
    const list = Object.entries(moves).flatMap(([member, changes]) =>
      (changes as unknown[]).map((change, i) => [member, i + 1, change] as const),
    );

    test.each(list)('changes with %s (%i)', (member, _i, change) =>
      expect(of({ ...value, [member]: change })).not.toBe(hash),
    );
    if (Object.keys(stays).length > 0)
      test.each(Object.entries(stays))('does not change with %s', (member, change) =>
        expect(of({ ...value, [member]: change })).toBe(hash),
      );

    test('every member is in one of the two lists', () => {
      expect([...Object.keys(moves), ...Object.keys(stays)].sort()).toEqual(
        expect.arrayContaining(Object.keys(value).sort()),
      );
    });
    test('each change gives a different hash', () => {
      const hashes = list.map(([member, , change]) => of({ ...value, [member]: change }));
      expect(new Set([...hashes, hash]).size).toBe(list.length + 1);
    });
    test('100 computations give the same hash, in any order of members [G23, G43]', () => {
      expect(hash).toMatch(/^[0-9a-f]{64}$/);
      const all = Array.from({ length: 100 }, (_, i) =>
        of((i % 2 === 0 ? structuredClone(value) : reversed(value)) as T),
      );
      expect(new Set(all)).toEqual(new Set([hash]));
    });
  });
}

test('diffSha is the hash of the raw bytes: each byte counts', () => {
  const bytes = utf8ToBytes('drop table t');
  expect(sha256Hex(utf8ToBytes(''))).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  for (let i = 0; i < bytes.length; i++)
    expect(sha256Hex(bytes.map((b, j) => (i === j ? b ^ 1 : b)))).not.toBe(sha256Hex(bytes));
  expect(sha256Hex(utf8ToBytes('drop table t\n'))).not.toBe(sha256Hex(bytes));
});

const submission: Submission = {
  tenant: 'acme',
  target: 'shop',
  sourceTool: 'SQLDryRun',
  diffSha: A,
  metadata: { affected_rows: 3, note: { a: 1, b: 2 } },
  requestKey: '',
};
const outside = {
  inline: 'AAAA',
  envelope: { payloadType: 'x', payload: '', signatures: [{ keyid: 'k', sig: 'AA==' }] },
  replyTo: { workflowId: 'w' },
  supersedes: B,
};

check<Submission>('inputSha', {
  of: inputSha,
  value: submission,
  moves: {
    tenant: ['other'],
    target: ['other'],
    sourceTool: ['SQLCAS'],
    diffSha: [B],
    metadata: [{}, { affected_rows: '3', note: { a: 1, b: 2 } }, { affected_rows: 3, note: { a: 1, b: null } }],
  },
  stays: { requestKey: 'again', ...outside },
});

check<Submission>('changeId', {
  of: changeId,
  value: submission,
  moves: {
    tenant: ['other'],
    target: ['other'],
    sourceTool: ['SQLCAS'],
    diffSha: [B],
    metadata: [{}],
    requestKey: ['again'],
  },
  stays: outside,
});

const record: StagingRecord = {
  sourceTool: 'SQLDryRun',
  target: 'shop',
  origin: 'measured',
  statements: [
    { sha: A, command: 'UPDATE', rowCount: 2 },
    { sha: B, command: 'DELETE', rowCount: 1 },
  ],
  tables: [
    { table: 'orders', inserted: 0, updated: 2, deleted: 1, touchedSha: A, keyed: true, volatileColumns: ['at'] },
  ],
  sideEffects: [{ table: 'audit', inserted: 1, updated: 0, deleted: 0 }],
  fullyCaptured: true,
  uncaptured: [],
  reason: null,
  notCompared: [],
  previewSha: null,
  base: { lsn: '1' },
  serverVersion: 'PostgreSQL 18',
};
const [table] = record.tables;
check<StagingRecord>('stagingSha', {
  of: stagingSha,
  value: record,
  moves: {
    sourceTool: ['SQLCAS'],
    target: ['other'],
    origin: ['claimed'],
    statements: [
      [],
      [...record.statements].reverse(),
      [{ sha: A, command: 'UPDATE', rowCount: 3 }, ...record.statements.slice(1)],
    ],
    tables: [
      { table: 'x' },
      { inserted: 1 },
      { updated: 3 },
      { deleted: 2 },
      { touchedSha: B },
      { touchedSha: null },
      { keyed: false },
      { volatileColumns: [] },
    ].map((change) => [{ ...table, ...change }]),
    sideEffects: [[], [{ table: 'audit', inserted: 2, updated: 0, deleted: 0 }]],
    fullyCaptured: [false],
    uncaptured: [['x']],
    reason: ['not_rehearsed'],
    notCompared: [[{ table: 'orders', column: 'at', why: 'x' }]],
    previewSha: [A],
    base: [{ lsn: '2' }, {}],
    serverVersion: ['PostgreSQL 17'],
  },
});

const rule = planValidator('guardian.a');
const finding = findingOf(rule, 'BLOCK', {
  reasonCode: 'code',
  errorClass: 'ErrTimeout',
  reproducible: false,
  recommendedActions: ['do'],
  details: { n: 1 },
});
check<ValidatorFinding>('findingsSha, by member of a finding', {
  of: (f) => findingsSha([findingOf(planValidator('safety.b'), 'ALLOW'), f]),
  value: finding,
  moves: {
    validator_id: ['guardian.other'],
    phase: ['post'],
    class: ['SAFETY'],
    status: ['WARN'],
    reason: ['other'],
    reasonCode: ['other'],
    errorClass: ['ErrVerdictParse'],
    reproducible: [true],
    recommendedActions: [[]],
    details: [{ n: 2 }, {}],
    evidenceRefs: [['other'], []],
    logic_hash: [B],
  },
});

test('findingsSha changes with the order and the number of findings', () => {
  const other = findingOf(planValidator('guardian.b'), 'ALLOW');
  const hashes = [[finding, other], [other, finding], [finding], [finding, other, other], []].map((list) =>
    findingsSha(list),
  );
  expect(new Set(hashes).size).toBe(hashes.length);
});

const plan = planOf([rule, planValidator('guardian.b')], {
  policies: [
    policyOf('p', { match: { validatorIds: ['guardian.a'] }, callback: { key: 'ask', version: 'v1' } }),
    policyOf('q'),
  ],
});
interface Violated {
  readonly planHash: string;
  readonly inputSha: string;
  readonly validator: string;
  readonly phase: 'preflight' | 'post';
  readonly policyKey: string;
  readonly index: number;
  readonly status: 'WARN' | 'BLOCK';
  readonly reason: string;
  readonly requester: string | null;
  readonly passed: boolean;
}
check<Violated>('violationId', {
  of: (v) => {
    const triggered = [{ findingIndex: v.index, policyKey: v.policyKey, callback: { key: 'ask', version: 'v1' } }];
    const findings = [0, 1].map(() =>
      findingOf(planValidator(v.validator, { phase: v.phase }), v.status, { reason: v.reason }),
    );
    const callbackResults = { [`${v.index}/${v.policyKey}`]: { passed: v.passed, message: null } };
    return (
      buildViolations({
        plan,
        planHash: v.planHash,
        inputSha: v.inputSha,
        findings,
        triggered,
        callbackResults,
        requester: v.requester,
      })[0]?.violationId ?? ''
    );
  },
  value: {
    planHash: A,
    inputSha: A,
    validator: 'guardian.a',
    phase: 'preflight',
    policyKey: 'p',
    index: 0,
    status: 'BLOCK',
    reason: 'because',
    requester: 'req',
    passed: true,
  },
  moves: {
    planHash: [B],
    inputSha: [B],
    validator: ['guardian.b'],
    phase: ['post'],
    policyKey: ['q', 'implicit'],
    index: [1],
  },
  // The id is deterministic (no UUID). The fingerprint binds everything else that people are shown.
  stays: { status: 'WARN', reason: 'other', requester: null, passed: false },
});

const bound = {
  changeId: A,
  inputSha: A,
  stagingSha: A as string | null,
  planHash: A,
  findingsSha: A,
  callbackResultsSha: A,
  violationIds: [A, B],
};
check<typeof bound>('fingerprint', {
  of: fingerprint,
  value: bound,
  moves: {
    changeId: [B],
    inputSha: [B],
    stagingSha: [B, null],
    planHash: [B],
    findingsSha: [B],
    callbackResultsSha: [B],
    violationIds: [[B, A], [A], [A, B, B], []],
  },
});

test('callbackResultsSha changes with key, result and message of each callback', () => {
  const results = { '0/p': { passed: true, message: 'm' } };
  const others = [
    {},
    { '1/p': { passed: true, message: 'm' } },
    { '0/p': { passed: false, message: 'm' } },
    { '0/p': { passed: true, message: null } },
    { ...results, '1/p': { passed: true, message: 'm' } },
  ];
  expect(new Set([results, ...others].map((r) => callbackResultsSha(r))).size).toBe(others.length + 1);
});

test('attestedInputDigest changes with its kind and with every input', () => {
  const digests = [
    attestedInputDigest('judge', { a: 1 }),
    attestedInputDigest('callback', { a: 1 }),
    attestedInputDigest('judge', { a: 2 }),
    attestedInputDigest('judge', { a: 1, b: null }),
  ];
  expect(new Set(digests).size).toBe(digests.length);
});

const row: LedgerRow = {
  changeId: A,
  n: 1,
  prev: B,
  kind: 'findings',
  at: '2026-01-01T00:00:00.000Z',
  actor: 'x',
  body: { a: 1 },
};
check<LedgerRow>('ledgerHash', {
  of: ledgerHash,
  value: row,
  moves: {
    changeId: [B],
    n: [2],
    prev: [A],
    kind: ['staged'],
    at: ['2026-01-01T00:00:00.001Z'],
    actor: ['y'],
    body: [{ a: 2 }, {}],
  },
});

test('planHash does not depend on diff, findings, answers or time: its only input is the plan [G19, G28, T34]', () => {
  const before = planHash(plan);
  violationsOf(plan, findingsOf(plan, { 'guardian.a': 'BLOCK' }));
  expect(planHash(plan)).toBe(before);
  expect(planHash(structuredClone(plan))).toBe(before);
});

describe('typedHash', () => {
  const NAMES: Readonly<Record<HashName, true>> = {
    content: true,
    facts: true,
    input: true,
    change: true,
    staging: true,
    preview: true,
    logic: true,
    plan: true,
    findings: true,
    explanation: true,
    violations: true,
    'callback-results': true,
    violation: true,
    fingerprint: true,
    'attested-input': true,
    ledger: true,
    login: true,
    key: true,
  };
  test('hashes of different kinds differ for the same members', () => {
    const hashes = (Object.keys(NAMES) as HashName[]).map((name) => typedHash(name, { a: 1 }));
    expect(new Set(hashes).size).toBe(hashes.length);
  });
  test('is the SHA-256 of the canonical JSON with the member type', () => {
    expect(typedHash('input', { b: 1, a: 'x' })).toBe(
      sha256Hex(utf8ToBytes('{"a":"x","b":1,"type":"countersign/input/v1"}')),
    );
  });
  test('refuses a member "type", which would forge another kind', () =>
    expect(() => typedHash('input', { type: 'countersign/change/v1' })).toThrow(/"type" is taken/));
  test('refuses undefined, instead of hashing it like an absent member [T36]', () =>
    expect(() => typedHash('input', { a: undefined })).toThrow(TypeError));
});
