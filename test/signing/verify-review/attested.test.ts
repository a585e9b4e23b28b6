import { attestedInputDigest, type AttestedPredicate } from '../../../policy/contracts/attested';
import { Submission } from '../../../policy/contracts/diff';
import { changeId as changeIdOf, inputSha as inputShaOf } from '../../../policy/contracts/change-id';
import { GENESIS, type LedgerRow } from '../../../policy/contracts/ledger';
import { planHash as planHashOf } from '../../../policy/contracts/plan';
import { givenToCallback, givenToJudge } from '../../../policy/evidence/attested-given';
import { signPredicate } from '../../../signing/envelope';
import { checkAttested, missingRecord, strictestResult } from '../../../signing/verify-review/attested';
import { callbackResultsOf } from '../../../signing/verify-review/disclosure';
import { CheckFailed } from '../../../signing/verify-review/checking';
import type { Passed, Review, ReviewFacts, ReviewSources } from '../../../signing/verify-review/record';
import { lookup, testKey, TEST_TIME, type TestKey } from '../../support/keys';
import { findingOf, JUDGE, planOf, policyOf, resultOf } from '../../support/plan';
import { chained } from '../../support/review/ledger-rows';

const [A, B, C] = ['a', 'b', 'c'].map((letter) => letter.repeat(64)) as [string, string, string];
const attestor = testKey('attestor', 'judge-worker');
const CALLBACK = { key: 'ask', version: 'v1' };
const submission = Submission.parse({ tenant: 'acme', target: 'shop', sourceTool: 'SQL', diffSha: A, requestKey: '' });
const plan = planOf([JUDGE], { policies: [policyOf('p', { callback: CALLBACK })] });
const [changeId, inputSha, planHash] = [changeIdOf(submission), inputShaOf(submission), planHashOf(plan)];
const FINDING = findingOf(JUDGE, 'BLOCK');

function given(of: { readonly stagingSha: string | null }) {
  return givenToJudge({ inputSha, planHash, logicHash: JUDGE.logic_hash, stagingSha: of.stagingSha });
}

function predicate(more: Partial<AttestedPredicate> = {}): AttestedPredicate {
  const stagingSha = more.stagingSha === undefined ? B : more.stagingSha;
  return {
    kind: 'judge',
    subject: JUDGE.id,
    changeId,
    inputSha,
    stagingSha,
    planHash,
    logicHash: JUDGE.logic_hash,
    inputDigest: attestedInputDigest('judge', given({ stagingSha })),
    evaluatedAt: TEST_TIME,
    keyId: attestor.keyId,
    result: resultOf(JUDGE.id, 'ALLOW') as AttestedPredicate['result'],
    record: {},
    ...more,
  };
}

const signed = (more: Partial<AttestedPredicate> = {}, key: TestKey = attestor): unknown =>
  signPredicate('attested', predicate({ keyId: key.keyId, ...more }), key);

function rowsOf(envelopes: readonly unknown[], kind: LedgerRow['kind'] = 'attested'): LedgerRow[] {
  const bodies = [
    { kind: 'disclosed' as const, body: { findings: [FINDING] } },
    ...envelopes.map((envelope) => ({ kind, body: { envelope } })),
  ];
  const row = { changeId, n: 0, prev: GENESIS, at: TEST_TIME, actor: 'x' };
  return chained(bodies.map((body) => ({ ...row, ...body }) as LedgerRow)).map((stored) => stored.row);
}

/** The result of the check; throws CheckFailed. */
function check(
  envelopes: readonly unknown[],
  keys: readonly { entry: TestKey['entry'] }[] = [attestor],
  development = false,
  kind?: LedgerRow['kind'],
): Passed {
  const facts: Partial<ReviewFacts> = {
    submission,
    pinned: { plan: { ...plan, development }, planHash },
    keys: lookup(...keys),
  };
  const review: Partial<Review> = {
    rows: rowsOf(envelopes, kind),
    sources: { context: 'commit' } as ReviewSources,
    end: { action: 'COMMIT', reason: null, stagingSha: B },
    record: { changeId } as Review['record'],
    need: (fact) => {
      const value = facts[fact];
      if (value === undefined) throw new Error(`unexpected: ${fact}`);
      return value;
    },
  };
  return checkAttested(review as Review);
}

/** The records that count; throws CheckFailed. */
const read = (...given: Parameters<typeof check>): readonly AttestedPredicate[] => check(...given)[1]?.records ?? [];
const detail = (...given: Parameters<typeof check>): string => check(...given)[0];

const strictest = (records: readonly AttestedPredicate[]): unknown =>
  strictestResult(JUDGE, records, { changeId, stagingSha: B });
const says = (envelopes: readonly unknown[], keys?: Parameters<typeof read>[1], development = false) =>
  strictest(read(envelopes, keys, development)) as { reason?: string } | null;
const allowed = { status: 'ALLOW', validator_id: JUDGE.id };
const missing = { errorClass: 'ErrValidatorBackend', reason: missingRecord(JUDGE.id, changeId).reason };

test('a valid record counts', () => expect(says([signed()])).toMatchObject(allowed));

describe('R1: a record must be about this change, input, plan and logic', () => {
  test.each<readonly [string, Partial<AttestedPredicate>]>([
    ['kind', { kind: 'aggregate' }],
    ['subject', { subject: 'guardian.other' }],
    ['changeId', { changeId: C }],
    ['inputSha', { inputSha: C }],
    ['planHash', { planHash: C }],
    ['logicHash', { logicHash: C }],
    ['inputDigest', { inputDigest: C }],
    ['inputDigest of another kind', { inputDigest: attestedInputDigest('callback', given({ stagingSha: B })) }],
  ])('fails: another %s', (_what, more) => expect(() => says([signed(more)])).toThrow(CheckFailed));

  test.each<readonly [string, AttestedPredicate['result']]>([
    ['of another validator', resultOf('guardian.other', 'ALLOW') as AttestedPredicate['result']],
    ['that is not an object', true],
    ['with an unknown member', { ...resultOf(JUDGE.id, 'ALLOW'), class: 'SAFETY' } as AttestedPredicate['result']],
  ])('passes a result %s to the assembly, which turns it into a contract violation', (_what, result) =>
    expect(says([signed(), signed({ result })])).toEqual(result),
  );

  test('a record of another dry run does not replace the one of this dry run', () => {
    for (const stagingSha of [C, null]) expect(says([signed({ stagingSha })])).toMatchObject(missing);
  });

  test('fails: a digest for another dry run than the record names', () => {
    const inputDigest = attestedInputDigest('judge', given({ stagingSha: C }));
    expect(() => says([signed({ stagingSha: B, inputDigest })])).toThrow('made from another input');
  });
});

describe('R1: only records of an active attestor key count', () => {
  test('fails: a key that is not registered', () =>
    expect(() => says([signed({}, testKey('attestor', 'x'))])).toThrow(CheckFailed));
  test.each(['service', 'approver', 'committer', 'operator'] as const)('fails: a key of kind %s', (kind) => {
    const key = testKey(kind, 'x');
    expect(() => says([signed({}, key)], [key])).toThrow(CheckFailed);
  });
  test('the record of a revoked key does not count, regardless of when it was signed', () => {
    const key = testKey('attestor', 'x', { revokedAt: '2030-01-01T00:00:00.000Z' });
    expect(says([signed({}, key)], [key])).toBeNull();
  });
  test('fails: a demo key, except on a development target', () => {
    const key = testKey('attestor', 'x', { demo: true });
    expect(() => says([signed({}, key)], [key])).toThrow(CheckFailed);
    expect(says([signed({}, key)], [key], true)).toMatchObject(allowed);
  });
  test('fails: a signature of another key or statement', () => {
    const envelope = signed() as { signatures: readonly object[] };
    const forged = { ...envelope, signatures: [{ keyid: attestor.keyId, sig: 'AAAA' }] };
    const warned = signed({ result: resultOf(JUDGE.id, 'WARN') as AttestedPredicate['result'] }) as object;
    for (const each of [forged, { ...warned, signatures: envelope.signatures }])
      expect(() => says([each])).toThrow(CheckFailed);
  });
  test('a value that is not an envelope does not count, and its row is named', () => {
    for (const each of [null, 'x', {}, []]) {
      expect(says([each])).toBeNull();
      expect(says([each, signed()])).toMatchObject(allowed);
      expect(detail([each, signed()])).toBe(
        '1 records; row 1 (attested) is unreadable and does not count: it contains no signed record',
      );
    }
  });
  test('fails: a statement of another kind', () => {
    const service = testKey('attestor', 'x');
    const said = {
      changeId,
      inputSha,
      keyId: service.keyId,
      onBehalfOf: null,
      supersedes: null,
      nonce: 'n'.repeat(16),
    };
    const statement = signPredicate('submission', { ...said, issuedAt: TEST_TIME }, service);
    expect(() => says([statement], [service])).toThrow(CheckFailed);
  });
  test('a row of another kind is not a record', () =>
    expect(strictest(read([signed()], [attestor], false, 'findings'))).toBeNull());
});

describe('R2: the strictest counts', () => {
  const of = (
    status: 'ALLOW' | 'WARN' | 'BLOCK' | 'ERROR',
    more: Partial<AttestedPredicate> & { reason?: string } = {},
  ) => {
    const { reason, ...rest } = more;
    return signed({
      result: resultOf(JUDGE.id, status, reason === undefined ? {} : { reason }) as AttestedPredicate['result'],
      ...rest,
    });
  };

  test('in any order', () => {
    for (const order of [
      [of('ALLOW'), of('WARN'), of('BLOCK')],
      [of('BLOCK'), of('WARN'), of('ALLOW')],
      [of('WARN'), of('BLOCK'), of('ALLOW')],
    ])
      expect(says(order)).toMatchObject({ status: 'BLOCK' });
    expect(says([of('ALLOW'), of('WARN'), of('ALLOW')])).toMatchObject({ status: 'WARN' });
  });
  test('of two equally strict ones the first, whose reason may have been disclosed', () => {
    expect(says([of('BLOCK', { reason: 'first' }), of('BLOCK', { reason: 'second' })])).toMatchObject({
      reason: 'first',
    });
  });
  test('an ERROR and an ALLOW give the ERROR', () => {
    for (const order of [
      [of('ALLOW'), of('ERROR')],
      [of('ERROR'), of('ALLOW')],
    ])
      expect(says(order)).toMatchObject({
        status: 'BLOCK',
        errorClass: 'ErrValidatorBackend',
        reproducible: false,
      });
  });
  test.each(['WARN', 'BLOCK'] as const)(
    'an ERROR and a %s give both, which differs from everything that was disclosed',
    (status) => {
      for (const order of [
        [of(status), of('ERROR')],
        [of('ERROR'), of(status)],
      ]) {
        const both = says(order);
        expect(both).toMatchObject({
          status: 'BLOCK',
          errorClass: 'ErrValidatorBackend',
          reproducible: true,
          reasonCode: 'records_differ',
        });
        expect(both?.reason).toContain(`${JUDGE.id} says ${status}`);
      }
    },
  );
  test('the combination is a valid result even with the longest reasons', () => {
    const long = 'x'.repeat(4000);
    const both = says([of('BLOCK', { reason: long }), of('ERROR', { reason: long })]);
    expect(both?.reason).toHaveLength(4000);
  });
  test('records of other dry runs can tighten the result, never loosen it', () => {
    expect(says([of('ALLOW'), of('BLOCK', { stagingSha: C })])).toMatchObject({ status: 'BLOCK' });
    expect(says([of('BLOCK'), of('ALLOW', { stagingSha: C })])).toMatchObject({ status: 'BLOCK' });
    expect(says([of('WARN', { stagingSha: null }), of('ALLOW', { stagingSha: C })])).toMatchObject({
      reasonCode: 'records_differ',
    });
  });
  test('the record of a revoked key does not tighten the result', () => {
    const revoked = testKey('attestor', 'x', { revokedAt: TEST_TIME });
    const blocked = resultOf(JUDGE.id, 'BLOCK') as AttestedPredicate['result'];
    expect(says([of('ALLOW'), signed({ result: blocked }, revoked)], [attestor, revoked])).toMatchObject(allowed);
  });
});

describe('callbacks', () => {
  const triggered = { findingIndex: 0, policyKey: 'p', callback: CALLBACK };
  const digest = attestedInputDigest('callback', givenToCallback(FINDING, triggered, inputSha));
  const answer = (passed: boolean, more: Partial<AttestedPredicate> = {}) =>
    signed({ kind: 'callback', subject: '0/p', inputDigest: digest, result: { passed, message: null }, ...more });
  const callback = (...envelopes: unknown[]) => callbackResultsOf(read(envelopes), [triggered], B)['0/p'] ?? null;

  test('a valid record counts', () => expect(callback(answer(true))).toEqual({ passed: true, message: null }));
  test('one record that did not pass counts, in any order', () => {
    expect(callback(answer(true), answer(false))).toMatchObject({ passed: false });
    expect(callback(answer(false), answer(true))).toMatchObject({ passed: false });
  });
  test('a bare true is not a valid result [T54, V2]', () =>
    expect(callback(answer(true, { result: true }))).toBeNull());
  test('a record of another dry run does not count', () =>
    expect(callback(answer(true, { stagingSha: C }))).toBeNull());
  test.each<readonly [string, Partial<AttestedPredicate>]>([
    ['kind', { kind: 'judge' }],
    ['subject', { subject: '1/p' }],
    ['policy', { subject: '0/q' }],
    ['changeId', { changeId: C }],
    ['inputSha', { inputSha: C }],
    ['planHash', { planHash: C }],
    ['logicHash', { logicHash: A }],
    ['inputDigest', { inputDigest: attestedInputDigest('callback', { finding: 'g' }) }],
  ])('fails: another %s', (_what, more) => expect(() => callback(answer(true, more))).toThrow(CheckFailed));
});
