import { consult, type ApprovalChannel, type PolicyRequest } from '../../client/channel';
import type { ReviewClient } from '../../client/review-client';
import { createSigner } from '../../client/signer';
import { signAnswers } from '../../client/sign-answers';
import { newKeyPair } from '../../signing/keys';
import type { JsonObject } from '../../policy/contracts/canonical-json';
import { stagingRecord } from '../../dev/staging-record';
import { accepted, CHANGE, failing, hex, reviewed, status, violation } from './fakes';

type Reviews = Pick<ReviewClient, 'review' | 'answer'>;
const open = status({
  violations: [
    violation(),
    violation({ violationId: hex('b'), callbackResult: { passed: false, message: 'not in the change window' } }),
    violation({
      violationId: hex('d'),
      need: 'callback',
      resolution: 'callback',
      callbackResult: { passed: true, message: null },
    }),
  ],
});
const channel = (onPolicy: (request: PolicyRequest) => unknown): ApprovalChannel => ({
  name: 'chat',
  onPolicy: async (request) => onPolicy(request) as never,
});
const validity = { issuedAt: new Date('2026-11-20T10:00:00.000Z'), expiresAt: new Date('2026-11-20T10:10:00.000Z') };

describe('a channel', () => {
  it('receives all violations with callback results, including those that need no answer [V13]', async () => {
    let asked: PolicyRequest | undefined;
    await consult(
      channel((request) => ((asked = request), [])),
      failing<Reviews>({ review: async () => reviewed(open) }),
      CHANGE,
    );
    expect(asked?.violations.map((v) => [v.violationId, v.callbackResult])).toEqual([
      [hex('a'), null],
      [hex('b'), { passed: false, message: 'not in the change window' }],
      [hex('d'), { passed: true, message: null }],
    ]);
  });

  it('answers with the signed answers that it returns, keyed by violation', async () => {
    const sent: unknown[] = [];
    const signed = signAnswers(
      CHANGE,
      reviewed(open),
      { violationIds: [hex('a')], decision: 'reject', reason: 'no' },
      createSigner(newKeyPair()),
      validity,
    );
    const reviews: Reviews = {
      review: async () => reviewed(open),
      answer: async (_id, answers) => (sent.push(answers), accepted()),
    };
    expect(
      await consult(
        channel(() => signed),
        reviews,
        CHANGE,
      ),
    ).toEqual({ kind: 'answered', results: accepted() });
    expect(sent).toEqual([signed]);
  });

  it.each<[string, (request: PolicyRequest) => unknown]>([
    ['true', () => true],
    ['a list of booleans', () => [true, true]],
    [
      'a plain answer',
      () => [{ violationId: hex('a'), fingerprint: hex('f'), decision: 'confirm', reason: '', actor: 'alice' }],
    ],
    ['nothing', () => undefined],
    ['an empty list', () => []],
    [
      'an exception',
      () => {
        throw new Error('chat is down');
      },
    ],
  ])(
    'that returns %s has not answered: nothing is sent, and the result has the reason [V12, V25]',
    async (_name, onPolicy) => {
      const result = await consult(channel(onPolicy), failing<Reviews>({ review: async () => reviewed(open) }), CHANGE);
      expect(result).toMatchObject({ kind: 'no_answer', reason: expect.stringContaining('chat') });
    },
  );

  it('is not called if no violation waits for a person', async () => {
    const quiet = status({ violations: [violation({ resolution: 'confirmed' })] });
    const never = channel(() => {
      throw new Error('not expected');
    });
    expect(await consult(never, failing<Reviews>({ review: async () => reviewed(quiet) }), CHANGE)).toEqual({
      kind: 'nothing_to_ask',
    });
  });
});

describe('signing answers', () => {
  it('refuses before the disclosure, and for a violation that the review does not have', () => {
    const choice = { violationIds: [hex('a')], decision: 'confirm' as const, reason: '' };
    const signer = createSigner(newKeyPair());
    expect(() => signAnswers(CHANGE, reviewed(status({ fingerprint: null })), choice, signer, validity)).toThrow(
      'nothing to answer',
    );
    expect(() =>
      signAnswers(CHANGE, reviewed(open), { ...choice, violationIds: [hex('9')] }, signer, validity),
    ).toThrow('has no violation');
  });

  it('refuses to confirm a dry run whose rows were not sent, but not to reject it', () => {
    const review = { ...reviewed(open), staging: stagingRecord({ previewSha: hex('7') }) };
    const signer = createSigner(newKeyPair());
    const sign = (decision: 'confirm' | 'reject', preview: JsonObject | null) =>
      signAnswers(
        CHANGE,
        { ...review, preview },
        { violationIds: [hex('a')], decision, reason: 'x' },
        signer,
        validity,
      );
    expect(() => sign('confirm', null)).toThrow('were not sent');
    expect(sign('confirm', { tables: [] })).toHaveLength(1);
    expect(sign('reject', null)).toHaveLength(1);
  });

  it('refuses a review of another change than the one that the person named', () => {
    const choice = { violationIds: [hex('a')], decision: 'confirm' as const, reason: '' };
    const signer = createSigner(newKeyPair());
    expect(() => signAnswers(hex('e'), reviewed(open), choice, signer, validity)).toThrow('nothing was signed');
  });
});
