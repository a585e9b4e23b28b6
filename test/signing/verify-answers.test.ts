import type { AnswerPredicate } from '../../policy/contracts/answer';
import type { LedgerRow } from '../../policy/contracts/ledger';
import { lastWords } from '../../policy/decide/last-words';
import { messageDigest } from '../../policy/evidence/dsse';
import type { SpentNonce } from '../../policy/evidence/ledger-port';
import { signPredicate } from '../../signing/envelope';
import { assessAnswer, type AnswerScope } from '../../signing/assess-answer';
import { newNonce } from '../../signing/nonce';
import type { SigningKey } from '../../signing/keys';
import { answerFactKey, verifyAcceptedAnswers, type VerifyAnswers } from '../../signing/verify-answers';
import { lookup, testKey } from '../support/keys';
import { ANSWERED, answerOf } from '../support/review/disclosed-change';

const sha = (letter: string): string => letter.repeat(64);
const NOW = '2026-03-01T12:00:00.000Z';
const ADMITTED = '2026-03-01T11:59:30.000Z';
const { changeId: CHANGE, fingerprint: PRINT, violationId: V1 } = ANSWERED;
const V2 = sha('b');
const dana = testKey('approver', 'dana');
const eli = testKey('approver', 'eli');
const demo = testKey('approver', 'dana', { demo: true });
const stranger = testKey('approver', 'stranger');

const need = { need: 'human' as const, group: 'dba', members: ['dana', 'eli', 'rita'], fourEyes: true };
const scope: AnswerScope = {
  changeId: CHANGE,
  context: { tenant: 'acme', target: 'shop', environment: 'production' },
  answersMode: 'signed',
  development: false,
  fingerprint: PRINT,
  requester: 'rita',
  violations: [
    { violationId: V1, ...need },
    { violationId: V2, ...need },
  ],
};
const signed = (key: SigningKey, more: Partial<AnswerPredicate> = {}) =>
  signPredicate('answer', answerOf(key.keyId, { expiresAt: '2026-03-01T11:59:59.000Z', ...more }), key);
const row = (answer: unknown, more: Partial<LedgerRow> = {}, body: object = {}): LedgerRow => ({
  changeId: CHANGE,
  n: 3,
  prev: sha('0'),
  kind: 'answer_accepted',
  at: ADMITTED,
  actor: 'review-worker',
  body: { answer: answer as never, ...body },
  ...more,
});
const keys = lookup(dana, eli, demo, stranger);

/** The nonces that admission would have spent for these rows. */
function spent(rows: readonly LedgerRow[]): SpentNonce[] {
  return rows.flatMap(({ changeId, at, body }) => {
    const judged = assessAnswer(body['answer'], scope, keys, at);
    return judged.code === 'accepted' && judged.keyId !== null && judged.nonce !== null
      ? [{ keyId: judged.keyId, nonce: judged.nonce, changeId, factKey: answerFactKey(judged) }]
      : [];
  });
}
const verify = (rows: readonly LedgerRow[], more: Partial<VerifyAnswers> = {}) =>
  verifyAcceptedAnswers({ rows, scope, keys, nonces: spent(rows), at: NOW, ...more });

it('counts an answer that was valid at admission, even after its expiry', () => {
  const { answers, refused, standingRejects } = verify([row(signed(dana)), row(signed(eli, { violationId: V2 }))]);
  expect(answers.map((a) => [a.person, a.violationId, a.decision, a.admittedAt])).toEqual([
    ['dana', V1, 'confirm', ADMITTED],
    ['eli', V2, 'confirm', ADMITTED],
  ]);
  expect([refused, standingRejects]).toEqual([[], []]);
});

it('takes the person from the key and what was said from the signed answer, not from the row', () => {
  const { answers } = verify([
    row(
      signed(dana, { reason: 'seen' }),
      {},
      { person: 'eli', decision: 'reject', reason: '', digest: sha('f'), signed: false, violationId: V2 },
    ),
  ]);
  expect(answers).toEqual([
    expect.objectContaining({ person: 'dana', decision: 'confirm', reason: 'seen', signed: true, violationId: V1 }),
  ]);
});

describe('the row of an accepted answer does not count', () => {
  const revoked = lookup({ entry: { ...dana.entry, revokedAt: NOW } });
  const cases: readonly (readonly [string, string, () => LedgerRow, Partial<VerifyAnswers>?])[] = [
    ['revoked_key', 'when its key was revoked since', () => row(signed(dana)), { keys: revoked }],
    ['unknown_key', 'when its key is not registered', () => row(signed(dana)), { keys: lookup() }],
    ['demo_key', 'when its key is a demo key', () => row(signed(demo))],
    [
      'bad_signature',
      'when its signature is of another answer',
      () => row({ ...signed(dana), signatures: signed(dana).signatures }),
    ],
    [
      'wrong_fingerprint',
      'when it was given for another fingerprint',
      () => row(signed(dana, { fingerprint: sha('9') })),
    ],
    ['wrong_context', 'when it is of another change', () => row(signed(dana, { changeId: sha('8') }))],
    ['expired', 'when it had expired at admission', () => row(signed(dana), { at: '2026-03-01T11:59:59.000Z' })],
    [
      'expired',
      'when it was issued after its admission',
      () => row(signed(dana, { issuedAt: '2026-03-01T12:00:31.000Z', expiresAt: '2026-03-01T13:00:00.000Z' })),
    ],
    [
      'expired',
      'when the row has a future time',
      () => row(signed(dana, { expiresAt: '2026-03-01T13:00:00.000Z' }), { at: '2026-03-01T12:10:00.000Z' }),
    ],
    ['not_eligible', 'when the person is not in the group', () => row(signed(stranger))],
    [
      'not_eligible',
      'when the person requested the change',
      () => row(signed(dana)),
      { scope: { ...scope, requester: 'dana' } },
    ],
    [
      'unsigned_not_accepted',
      'when it is unsigned',
      () => row({ violationId: V1, fingerprint: PRINT, decision: 'confirm', reason: '', actor: 'dana' }),
    ],
    ['malformed', 'when the row contains no answer', () => row(undefined)],
    ['too_early', 'when nothing was disclosed', () => row(signed(dana)), { scope: { ...scope, fingerprint: null } }],
    ['nonce_reused', 'when its nonce was not spent', () => row(signed(dana)), { nonces: [] }],
  ];
  it.each(cases.map(([code, when, make, more = {}]) => [code, when, make, more] as const))(
    '%s: %s',
    (code, _when, make, more) => {
      const { answers, refused } = verify([make()], more);
      expect(answers).toEqual([]);
      expect(refused).toEqual([{ n: 3, code, message: expect.any(String) }]);
    },
  );

  it('nonce_reused: when another nonce was spent, or its nonce by another answer or change', () => {
    const only = row(signed(dana));
    const [nonce] = spent([only]);
    for (const change of [{ nonce: newNonce() }, { changeId: sha('7') }, { factKey: 'answer:other' }]) {
      expect(
        verify([only], { nonces: [{ ...(nonce ?? fail('no nonce')), ...change }] }).refused.map((r) => r.code),
      ).toEqual(['nonce_reused']);
    }
  });

  it('nonce_reused: when two rows contain the same answer, of which the first counts', () => {
    const envelope = signed(dana);
    const { answers, refused } = verify([row(envelope), row(envelope, { n: 4 })], { nonces: null });
    expect([answers.length, refused.map((r) => [r.n, r.code])]).toEqual([1, [[4, 'nonce_reused']]]);
  });
});

it('ignores rows of other kinds and of other changes', () => {
  const { answers, refused } = verify([
    row(signed(dana), { kind: 'answer_refused' }),
    row(signed(dana), { changeId: sha('6') }),
  ]);
  expect([answers, refused]).toEqual([[], []]);
});

it('returns every answer, of which the last word of each person counts: a reject rather than a confirm in either order', () => {
  const [yes, again, no] = [row(signed(dana)), row(signed(dana)), row(signed(dana, { decision: 'reject' }))];
  expect(lastWords(verify([yes, again], { nonces: null }).answers)).toHaveLength(1);
  for (const rows of [
    [yes, no],
    [no, yes],
  ])
    expect(lastWords(verify(rows, { nonces: null }).answers).map((a) => a.decision)).toEqual(['reject']);
});

it('counts an unsigned answer if plan and target allow it', () => {
  const development: AnswerScope = { ...scope, answersMode: 'unsigned', development: true };
  const { answers } = verify(
    [row({ violationId: V1, fingerprint: PRINT, decision: 'confirm', reason: '', actor: 'dana' })],
    { scope: development },
  );
  expect(answers).toEqual([expect.objectContaining({ person: 'dana', signed: false })]);
});

describe('a retraction', () => {
  const yes = signed(dana);
  const retract = signed(dana, {
    decision: 'retract',
    retracts: messageDigest(yes),
    issuedAt: '2026-03-01T11:59:20.000Z',
  });
  const rows = [row(yes), row(retract, { kind: 'retracted', n: 4 })];
  const count = (given: readonly LedgerRow[], more: Partial<VerifyAnswers> = {}) =>
    lastWords(verify(given, more).answers);

  it('takes the confirmation back, in either order of the rows', () => {
    expect(count(rows)).toEqual([]);
    expect(count([...rows].reverse())).toEqual([]);
  });

  it('stays valid if its key was revoked since, while the confirmation was signed with another key', () => {
    const other = testKey('approver', 'dana', { revokedAt: NOW });
    const late = signed(other, { decision: 'retract', retracts: messageDigest(yes) });
    const all = lookup(dana, eli, { entry: other.entry });
    const given = [row(yes), row(late, { kind: 'retracted', n: 4 })];
    expect(verify(given, { keys: all }).refused.map(({ code }) => code)).toEqual(['revoked_key']);
    expect(count(given, { keys: all })).toEqual([]);
  });

  it('does not count in a row of another kind, nor another answer in its row', () => {
    for (const given of [[row(retract)], [row(yes, { kind: 'retracted' })]])
      expect(verify(given)).toMatchObject({ refused: [{ code: 'malformed' }] });
  });
});

describe('a reject is permanent', () => {
  const no = { decision: 'reject' } as const;
  it.each([
    ['on another fingerprint', () => row(signed(dana, { ...no, fingerprint: sha('9') })), {}],
    [
      'even if its key was revoked since',
      () => row(signed(dana, no)),
      { keys: lookup({ entry: { ...dana.entry, revokedAt: NOW } }) },
    ],
    ['even if its violation is no longer disclosed', () => row(signed(dana, { ...no, violationId: sha('f') })), {}],
    ['even if it also counts as an answer', () => row(signed(dana, no)), {}],
  ] as const)('%s', (_how, make, more) => {
    expect(verify([make()], more).standingRejects).toEqual([
      expect.objectContaining({ person: 'dana', decision: 'reject' }),
    ]);
  });

  it.each([
    ['without a good signature', () => row({ ...signed(dana, no), signatures: signed(dana, no).signatures })],
    ['of another change', () => row(signed(dana, { ...no, changeId: sha('8') }))],
    ['of a person outside the group', () => row(signed(stranger, no))],
    ['when it is a confirm', () => row(signed(dana, { fingerprint: sha('9') }))],
  ])('never %s', (_how, make) => {
    expect(verify([make()]).standingRejects).toEqual([]);
  });
});
