import { AttestedRecords } from '../../../activities/committer/attested-outcomes';
import { attestedInputDigest, type AttestedPredicate } from '../../../policy/contracts/attested';
import { GENESIS, ledgerHash, type LedgerRow } from '../../../policy/contracts/ledger';
import type { StoredRow } from '../../../policy/evidence/chain';
import { signPredicate } from '../../../signing/envelope';
import { testKey, testRegistry, TEST_TIME, type TestKey } from '../../support/keys';
import { JUDGE, resultOf } from '../../support/plan';

const [A, B, C] = ['a', 'b', 'c'].map((letter) => letter.repeat(64)) as [string, string, string];
const attestor = testKey('attestor', 'judge-worker');
const given = ({ stagingSha }: { stagingSha: string | null }) => ({ inputSha: A, stagingSha });
const MISSING = resultOf(JUDGE.id, 'ERROR', { reason: 'missing' });
const EXPECTED = {
  kind: 'judge' as const,
  changeId: A,
  inputSha: A,
  planHash: A,
  stagingSha: B as string | null,
  given,
};

function predicate(more: Partial<AttestedPredicate> = {}): AttestedPredicate {
  const stagingSha = more.stagingSha === undefined ? B : more.stagingSha;
  return {
    kind: 'judge',
    subject: JUDGE.id,
    changeId: A,
    inputSha: A,
    stagingSha,
    planHash: A,
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

function stored(envelopes: readonly unknown[], kind: LedgerRow['kind'] = 'attested'): StoredRow[] {
  return envelopes.map((envelope, n) => {
    const row = { changeId: A, n, prev: GENESIS, kind, at: TEST_TIME, actor: 'x', body: { envelope } } as LedgerRow;
    return { row, hash: ledgerHash(row) };
  });
}

async function read(
  envelopes: readonly unknown[],
  keys: readonly { entry: TestKey['entry'] }[] = [attestor],
  development = false,
): Promise<AttestedRecords> {
  return new AttestedRecords(stored(envelopes), await testRegistry(...keys).snapshot(), development);
}

const says = async (envelopes: readonly unknown[], keys?: Parameters<typeof read>[1], development = false) =>
  (await read(envelopes, keys, development)).validator(JUDGE, EXPECTED, MISSING);
const allowed = { status: 'ALLOW', validator_id: JUDGE.id };

test('a record that fits counts', async () => expect(await says([signed()])).toMatchObject(allowed));

describe('R1: a record counts only for what it was made for', () => {
  test.each<readonly [string, Partial<AttestedPredicate>]>([
    ['kind', { kind: 'aggregate' }],
    ['subject', { subject: 'guardian.other' }],
    ['changeId', { changeId: C }],
    ['inputSha', { inputSha: C }],
    ['planHash', { planHash: C }],
    ['logicHash', { logicHash: C }],
    ['inputDigest', { inputDigest: C }],
    ['inputDigest of another kind', { inputDigest: attestedInputDigest('callback', given({ stagingSha: B })) }],
    ['result of another validator', { result: resultOf('guardian.other', 'ALLOW') as AttestedPredicate['result'] }],
    ['result that is none', { result: true }],
    [
      'result with an unknown member',
      { result: { ...resultOf(JUDGE.id, 'ALLOW'), class: 'SAFETY' } as AttestedPredicate['result'] },
    ],
  ])('another %s', async (_what, more) => expect(await says([signed(more)])).toBeNull());

  test('another dry run: it does not stand for this one', async () => {
    for (const stagingSha of [C, null])
      expect(await says([signed({ stagingSha })])).toMatchObject({
        errorClass: 'ErrValidatorBackend',
        reason: 'missing',
      });
  });

  test('a digest that is right for another dry run than the record names', async () => {
    expect(
      await says([signed({ stagingSha: B, inputDigest: attestedInputDigest('judge', given({ stagingSha: C })) })]),
    ).toBeNull();
  });
});

describe('R1: only an active attestor key makes one', () => {
  test('a key that nobody registered', async () =>
    expect(await says([signed({}, testKey('attestor', 'x'))])).toBeNull());
  test.each(['service', 'approver', 'committer', 'operator'] as const)('a key of kind %s', async (kind) => {
    const key = testKey(kind, 'x');
    expect(await says([signed({}, key)], [key])).toBeNull();
  });
  test('a revoked key, whenever it signed', async () => {
    const key = testKey('attestor', 'x', { revokedAt: '2030-01-01T00:00:00.000Z' });
    expect(await says([signed({}, key)], [key])).toBeNull();
  });
  test('a demo key, save on a development target', async () => {
    const key = testKey('attestor', 'x', { demo: true });
    expect(await says([signed({}, key)], [key])).toBeNull();
    expect(await says([signed({}, key)], [key], true)).toMatchObject(allowed);
  });
  test('a signature that is not of the key, or an envelope that is none', async () => {
    const envelope = signed() as { signatures: readonly object[] };
    const other = (signed() as { signatures: readonly object[] }).signatures;
    expect(await says([{ ...envelope, signatures: [{ keyid: attestor.keyId, sig: 'AAAA' }] }])).toBeNull();
    expect(
      await says([
        {
          ...(signed({ result: resultOf(JUDGE.id, 'WARN') as AttestedPredicate['result'] }) as object),
          signatures: other,
        },
      ]),
    ).toBeNull();
    for (const none of [null, 'x', {}, []]) expect(await says([none])).toBeNull();
  });
  test('a statement of another kind', async () => {
    const service = testKey('attestor', 'x');
    const submission = signPredicate(
      'submission',
      { changeId: A, inputSha: A, keyId: service.keyId, onBehalfOf: null, nonce: 'n'.repeat(16), issuedAt: TEST_TIME },
      service,
    );
    expect(await says([submission], [service])).toBeNull();
  });
  test('a row of another kind', async () => {
    const snapshot = await testRegistry(attestor).snapshot();
    expect(
      new AttestedRecords(stored([signed()], 'findings'), snapshot, false).validator(JUDGE, EXPECTED, MISSING),
    ).toBeNull();
  });
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

  test('in whatever order they were written', async () => {
    for (const order of [
      [of('ALLOW'), of('WARN'), of('BLOCK')],
      [of('BLOCK'), of('WARN'), of('ALLOW')],
      [of('WARN'), of('BLOCK'), of('ALLOW')],
    ])
      expect(await says(order)).toMatchObject({ status: 'BLOCK' });
    expect(await says([of('ALLOW'), of('WARN'), of('ALLOW')])).toMatchObject({ status: 'WARN' });
  });
  test('of two alike the first, whose words people may have read', async () => {
    expect(await says([of('BLOCK', { reason: 'first' }), of('BLOCK', { reason: 'second' })])).toMatchObject({
      reason: 'first',
    });
  });
  test('an ERROR beside an ALLOW', async () => {
    for (const order of [
      [of('ALLOW'), of('ERROR')],
      [of('ERROR'), of('ALLOW')],
    ])
      expect(await says(order)).toMatchObject({
        status: 'BLOCK',
        errorClass: 'ErrValidatorBackend',
        reproducible: false,
      });
  });
  test.each(['WARN', 'BLOCK'] as const)(
    'an ERROR beside a %s: both, so neither hides the other, and nobody was shown it',
    async (status) => {
      for (const order of [
        [of(status), of('ERROR')],
        [of('ERROR'), of(status)],
      ]) {
        const both = await says(order);
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
  test('both is still a result, however long the reasons are', async () => {
    const long = 'x'.repeat(4000);
    const both = await says([of('BLOCK', { reason: long }), of('ERROR', { reason: long })]);
    expect(both?.reason).toHaveLength(4000);
  });
  test('those of other dry runs count to tighten, never to loosen', async () => {
    expect(await says([of('ALLOW'), of('BLOCK', { stagingSha: C })])).toMatchObject({ status: 'BLOCK' });
    expect(await says([of('BLOCK'), of('ALLOW', { stagingSha: C })])).toMatchObject({ status: 'BLOCK' });
    expect(await says([of('WARN', { stagingSha: null }), of('ALLOW', { stagingSha: C })])).toMatchObject({
      reasonCode: 'records_differ',
    });
  });
  test('one that does not count does not tighten either: R3', async () => {
    expect(
      await says([
        of('ALLOW'),
        of('BLOCK', { planHash: C }),
        signed({ result: resultOf(JUDGE.id, 'BLOCK') as AttestedPredicate['result'] }, testKey('attestor', 'x')),
      ]),
    ).toMatchObject(allowed);
  });
});

describe('callbacks', () => {
  const expected = {
    kind: 'callback' as const,
    subject: '0/p',
    changeId: A,
    inputSha: A,
    planHash: A,
    logicHash: C,
    stagingSha: B,
    given: { finding: 'f' },
  };
  const answer = (passed: boolean, more: Partial<AttestedPredicate> = {}) =>
    signed({
      kind: 'callback',
      subject: '0/p',
      logicHash: C,
      inputDigest: attestedInputDigest('callback', expected.given),
      result: { passed, message: null },
      ...more,
    });
  const callback = async (...envelopes: unknown[]) => (await read(envelopes)).callback(expected);

  test('a record that fits counts', async () =>
    expect(await callback(answer(true))).toEqual({ passed: true, message: null }));
  test('one no among them is a no, whichever came first', async () => {
    expect(await callback(answer(true), answer(false))).toMatchObject({ passed: false });
    expect(await callback(answer(false), answer(true))).toMatchObject({ passed: false });
  });
  test('a bare true is no result [T54, V2]', async () =>
    expect(await callback(answer(true, { result: true }))).toBeNull());
  test.each<readonly [string, Partial<AttestedPredicate>]>([
    ['kind', { kind: 'judge' }],
    ['subject', { subject: '1/p' }],
    ['changeId', { changeId: C }],
    ['inputSha', { inputSha: C }],
    ['stagingSha', { stagingSha: C }],
    ['planHash', { planHash: C }],
    ['logicHash', { logicHash: A }],
    ['inputDigest', { inputDigest: attestedInputDigest('callback', { finding: 'g' }) }],
  ])('another %s does not count', async (_what, more) => expect(await callback(answer(true, more))).toBeNull());
});
