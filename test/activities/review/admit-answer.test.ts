import { createAnswerActivities, type AnswerDeps } from '../../../activities/review/admit-answer';
import { SCOPE_ROWS } from '../../../activities/review/scopes-from-rows';
import type { AdmitInput, Admitted } from '../../../activities/review-types';
import type { AnswerPredicate } from '../../../policy/contracts/answer';
import type { Envelope } from '../../../policy/contracts/diff';
import type { RegisteredKey } from '../../../policy/evidence/key-registry';
import { lastWords } from '../../../policy/decide/last-words';
import { messageDigest } from '../../../policy/evidence/dsse';
import { toBase64 } from '../../../policy/evidence/base64';
import { signPredicate } from '../../../signing/envelope';
import { newNonce } from '../../../signing/nonce';
import type { SigningKey } from '../../../signing/keys';
import { lookup, testKey, testRegistry } from '../../support/keys';
import {
  ANSWERED,
  answerOf,
  answerPlans,
  writeDisclosedChange,
  type DisclosedChange,
} from '../../support/review/disclosed-change';
import { memoryLedger, type MemoryLedger } from '../../support/memory-ledger';

const sha = (letter: string): string => letter.repeat(64);
const NOW = '2026-03-01T12:00:00.000Z';
const LATER = '2026-03-01T11:59:30.000Z';
const { changeId: CHANGE, fingerprint: PRINT, violationId: V1 } = ANSWERED;
const [V2, AUTO] = [sha('b'), sha('c')];

const dana = testKey('approver', 'dana');
const danaToo = testKey('approver', 'dana');
const eli = testKey('approver', 'eli');
const stranger = testKey('approver', 'stranger');
const requester = testKey('approver', 'rita');
const revoked = testKey('approver', 'dana', { revokedAt: NOW });
const demo = testKey('approver', 'dana', { demo: true });
const agent = testKey('approver', 'dana', { subject: { type: 'agent', id: 'dana' } });
const service = testKey('service', 'dana', { subject: { type: 'person', id: 'dana' } });
const unknown = testKey('approver', 'dana');

const signed = (key: SigningKey, more: Partial<AnswerPredicate> = {}): Envelope =>
  signPredicate('answer', answerOf(key.keyId, more), key);
const unsigned = (more: object = {}) => ({
  violationId: V1,
  fingerprint: PRINT,
  decision: 'confirm',
  reason: 'ok',
  actor: 'dana',
  ...more,
});

const need = { need: 'human' as const, group: 'dba', fourEyes: true };
const VIOLATIONS = [
  { ...need, violationId: V1 },
  { ...need, violationId: V2 },
  { ...need, violationId: AUTO, need: 'callback' as const },
];

/** How the rows of the change differ from those of a production change with signed answers. */
type Rows = Partial<Omit<DisclosedChange, 'changeId' | 'plan'>> & { readonly plan?: Partial<DisclosedChange['plan']> };
const GROUPS = { dba: { members: ['dana', 'eli', 'rita'] } };

function input(answers: readonly unknown[], more: Partial<AdmitInput> = {}): AdmitInput {
  return { changeId: CHANGE, closed: false, admitted: [], message: { answers }, via: 'update', ...more };
}
const DEV = { tenant: 'acme', target: 'shop', environment: 'development' } as const;
const development: Rows = { plan: { answers: 'unsigned', development: true } };
const digests = ({ admitted }: Admitted): string[] => admitted.map(({ digest }) => digest);

let ledger: MemoryLedger;
let now: string;
let deps: Omit<AnswerDeps, 'plans'>;
beforeEach(() => {
  ledger = memoryLedger();
  now = NOW;
  const keys = testRegistry(dana, danaToo, eli, stranger, requester, revoked, demo, agent, service);
  deps = { ledger, keys, databaseNow: async () => new Date(now) };
});

/** Opens and discloses the change, unless it is, and admits. */
async function admit(i: AdmitInput, { plan, ...rows }: Rows = {}): Promise<Admitted> {
  const pinned = { answers: 'signed', development: false, groups: GROUPS, ...plan } as const;
  const change = { changeId: i.changeId, plan: pinned, fingerprint: PRINT, violations: VIOLATIONS, ...rows };
  await writeDisclosedChange(ledger, change);
  return createAnswerActivities({ ...deps, plans: answerPlans(pinned) }).admitAnswer(i);
}
const codes = async (i: AdmitInput, rows: Rows = {}) =>
  Object.fromEntries(Object.entries((await admit(i, rows)).results).map(([key, { code }]) => [key, code]));
const added = () => ledger.all.filter(({ row }) => !(SCOPE_ROWS as readonly string[]).includes(row.kind));
const kinds = () => added().map(({ row }) => row.kind);

describe('of two attempts at the same answer, the first of which was reported as failed,', () => {
  const AFTER_EXPIRY = '2026-03-01T12:31:00.000Z';

  /** Admits `i`; `meanwhile` runs after the rows were read. */
  function admitBeside(i: AdmitInput, meanwhile: () => Promise<unknown>): Promise<Admitted> {
    const { keys } = deps;
    const snapshot: AnswerDeps['keys']['snapshot'] = async (maxAgeMs) => {
      deps = { ...deps, keys };
      await meanwhile();
      return keys.snapshot(maxAgeMs);
    };
    deps = { ...deps, keys: { snapshot } };
    return admit(i);
  }

  it('the first does not record as accepted what the second has refused [P8]', async () => {
    const answer = input([signed(dana)]);
    const first = admitBeside(answer, async () => {
      now = AFTER_EXPIRY;
      expect(await codes(answer)).toEqual({ [V1]: 'expired' });
    });
    await expect(first).rejects.toMatchObject({ type: 'STORE_UNAVAILABLE', nonRetryable: false });
    expect(kinds()).toEqual(['answer_refused']);
  });

  it('the second does not refuse what the first has accepted, and a third finds it [P8]', async () => {
    const answer = input([signed(dana)]);
    now = AFTER_EXPIRY;
    const second = admitBeside(answer, async () => {
      now = NOW;
      expect(await codes(answer)).toEqual({ [V1]: 'accepted' });
      now = AFTER_EXPIRY;
    });
    await expect(second).rejects.toMatchObject({ type: 'STORE_UNAVAILABLE', nonRetryable: false });
    expect(kinds()).toEqual(['answer_accepted']);
    expect((await admit(answer)).admitted).toHaveLength(1);
  });
});

describe('an answer that counts', () => {
  it('is written to the ledger with its envelope before the workflow receives it [P8]', async () => {
    const envelope = signed(dana);
    const { results, admitted } = await admit(input([envelope]));
    expect(results).toEqual({ [V1]: { code: 'accepted', message: 'confirm by dana' } });
    expect(admitted).toEqual([
      expect.objectContaining({
        violationId: V1,
        fingerprint: PRINT,
        decision: 'confirm',
        person: 'dana',
        signed: true,
        admittedAt: NOW,
      }),
    ]);
    const [row] = added();
    expect(row?.row).toMatchObject({
      kind: 'answer_accepted',
      at: NOW,
      body: { answer: envelope, person: 'dana', digest: admitted[0]?.digest, via: 'update' },
    });
  });

  it('is counted in the list of reviews: what still waits for a person', async () => {
    const listed = async (): Promise<unknown> => (await ledger.review(CHANGE))?.pending;
    await admit(input([signed(dana)]));
    expect(await listed()).toBe(1);
    await admit(input([signed(dana, { violationId: V2 })]));
    expect(await listed()).toBe(0);
  });

  it('may be signed with a key that is newer than the cached registry', async () => {
    const [cached, current] = [testRegistry(eli), testRegistry(eli, dana)];
    const ages: (number | undefined)[] = [];
    const snapshot = (maxAgeMs?: number) => {
      ages.push(maxAgeMs);
      return (maxAgeMs === 0 ? current : cached).snapshot();
    };
    deps = { ...deps, keys: { snapshot } };
    expect(await codes(input([signed(dana)]))).toEqual({ [V1]: 'accepted' });
    expect(ages).toEqual([undefined, 0]);
    // The other answer no longer waits, also for the list of reviews: the key of the recorded answer is looked up as well.
    expect(await codes(input([signed(eli, { violationId: V2 })]))).toEqual({ [V2]: 'accepted' });
    expect(ages).toEqual([undefined, 0, undefined, 0]);
    expect((await ledger.review(CHANGE))?.pending).toBe(0);
  });

  it('needs no second look at the registry if all keys are in the cache', async () => {
    const registry = testRegistry(dana, eli);
    const ages: (number | undefined)[] = [];
    deps = { ...deps, keys: { snapshot: (maxAgeMs) => (ages.push(maxAgeMs), registry.snapshot(maxAgeMs)) } };
    await admit(input([signed(dana)]));
    await admit(input([signed(eli, { violationId: V2 })]));
    expect(ages).toEqual([undefined, undefined]);
  });

  it('is judged independently of a refused and a malformed one in the same message [V12, P5]', async () => {
    const { results, admitted } = await admit(
      input([signed(dana), signed(stranger, { violationId: V2 }), { nonsense: true }]),
    );
    expect(results).toMatchObject({
      [V1]: { code: 'accepted' },
      [V2]: { code: 'not_eligible' },
      '#2': { code: 'malformed' },
    });
    expect(admitted).toHaveLength(1);
    expect(kinds()).toEqual(['answer_accepted', 'answer_refused', 'answer_refused']);
  });

  it('keeps its violation id as the key in the results when a forged one names the same violation first', async () => {
    expect(await codes(input([signed(unknown), signed(dana)]))).toEqual({ [V1]: 'accepted', '#0': 'unknown_key' });
  });

  it('is accepted unsigned only if the plan allows it and the target is a development target', async () => {
    const to = (letter: string) => input([unsigned()], { changeId: sha(letter) });
    const refused = { [V1]: 'unsigned_not_accepted' };
    expect(await codes(to('6'), development)).toEqual({ [V1]: 'accepted' });
    expect(await codes(to('7'))).toEqual(refused);
    expect(await codes(to('8'), { plan: { answers: 'unsigned' } })).toEqual(refused);
    expect(await codes(to('9'), { plan: { development: true } })).toEqual(refused);
  });

  it('may be signed by a demo key only on a development target', async () => {
    expect(await codes(input([signed(demo, { context: DEV })]), { plan: { development: true } })).toEqual({
      [V1]: 'accepted',
    });
    expect(await codes(input([signed(demo, { violationId: V2 })]))).toEqual({ [V2]: 'demo_key' });
  });
});

describe('a refused answer is returned as data, has no effect, and is recorded in the ledger [T56]', () => {
  const forge = (envelope: Envelope): Envelope => ({
    ...envelope,
    signatures: [{ keyid: dana.keyId, sig: signed(dana).signatures[0]?.sig ?? '' }],
  });
  const cases: readonly (readonly [code: string, what: string, make: () => AdmitInput, rows?: Rows])[] = [
    ['malformed', 'text instead of an object', () => input([], { message: 'confirm' })],
    ['malformed', 'null', () => input([], { message: null })],
    ['malformed', 'an array of booleans, by position [T58]', () => input([], { message: [true, true] })],
    ['malformed', 'answers by position inside the message [T58]', () => input([true])],
    ['malformed', 'an empty list of answers', () => input([])],
    ['malformed', 'more than 50 answers', () => input(Array.from({ length: 51 }, () => unsigned()))],
    ['malformed', 'a member besides answers', () => input([], { message: { answers: [unsigned()], force: true } })],
    ['malformed', 'an envelope that is not wrapped', () => input([], { message: signed(dana) })],
    ['malformed', '"false" as decision [T58]', () => input([unsigned({ decision: 'false' })]), development],
    ['malformed', 'text that is not Unicode', () => input([unsigned({ reason: '\ud800' })]), development],
    [
      'malformed',
      'a receipt in the place of an answer',
      () => input([signPredicate('checkpoint', { size: 1, rootHash: sha('d'), keyId: dana.keyId, at: NOW }, dana)]),
    ],
    ['too_early', 'before anything is disclosed [T59]', () => input([signed(dana)]), { fingerprint: null }],
    ['closed', 'after the review is decided', () => input([signed(dana)], { closed: true })],
    ['unknown_violation', 'a violation of another review', () => input([signed(dana, { violationId: sha('f') })])],
    ['needs_no_answer', 'a violation that a callback resolves', () => input([signed(dana, { violationId: AUTO })])],
    [
      'wrong_fingerprint',
      'another fingerprint than the disclosed one [T60]',
      () => input([signed(dana, { fingerprint: sha('9') })]),
    ],
    [
      'wrong_fingerprint',
      'another fingerprint, unsigned',
      () => input([unsigned({ fingerprint: sha('9') })]),
      development,
    ],
    ['wrong_context', 'another change', () => input([signed(dana, { changeId: sha('8') })])],
    [
      'wrong_context',
      'another tenant',
      () => input([signed(dana, { context: { tenant: 'other', target: 'shop', environment: 'production' } })]),
    ],
    [
      'wrong_context',
      'another target',
      () => input([signed(dana, { context: { tenant: 'acme', target: 'other', environment: 'production' } })]),
    ],
    [
      'wrong_context',
      'another environment',
      () => input([signed(dana, { context: { tenant: 'acme', target: 'shop', environment: 'development' } })]),
    ],
    ['unsigned_not_accepted', 'an unsigned answer when signatures are required', () => input([unsigned()])],
    ['unknown_key', 'a key that is not registered', () => input([signed(unknown)])],
    ['revoked_key', 'a revoked key', () => input([signed(revoked)])],
    ['demo_key', 'a demo key on a production target', () => input([signed(demo)])],
    ['bad_signature', 'a signature of another answer', () => input([forge(signed(dana))])],
    [
      'bad_signature',
      "another person's signature under this key id",
      () => input([{ ...signed(eli), signatures: [{ keyid: dana.keyId, sig: signed(eli).signatures[0]?.sig ?? '' }] }]),
    ],
    ['not_eligible', 'a person outside the group', () => input([signed(stranger)])],
    ['not_eligible', 'the requester, under four eyes', () => input([signed(requester)])],
    ['not_eligible', 'an agent with an approver key', () => input([signed(agent)])],
    ['not_eligible', "a person's service key", () => input([signed(service)])],
    ['not_eligible', 'an unsigned actor outside the group', () => input([unsigned({ actor: 'mallory' })]), development],
    ['expired', 'past its expiry', () => input([signed(dana, { expiresAt: NOW })])],
    [
      'expired',
      'issued more than a minute ahead',
      () => input([signed(dana, { issuedAt: '2026-03-01T12:01:00.001Z' })]),
    ],
  ];

  const complete = cases.map(([code, what, make, rows = {}]) => [code, what, make, rows] as const);
  it.each(complete)('%s: %s', async (code, _what, make, rows) => {
    const { results, admitted } = await admit(make(), rows);
    expect(Object.values(results).map((r) => r.code)).toEqual([code]);
    expect(Object.values(results)[0]?.message).not.toBe('');
    expect(admitted).toEqual([]);
    expect(kinds()).toEqual(['answer_refused']);
    expect(added()[0]?.row.body['code']).toBe(code);
  });

  it('accepts an issue time up to a minute ahead, and the last millisecond before expiry', async () => {
    const late = signed(dana, { issuedAt: '2026-03-01T12:01:00.000Z', expiresAt: '2026-03-01T12:00:00.001Z' });
    expect(await codes(input([late]))).toEqual({ [V1]: 'accepted' });
  });

  it('lets the requester answer if the violation does not require four eyes', async () => {
    const violations = VIOLATIONS.map((v) => ({ ...v, fourEyes: false }));
    expect(await codes(input([signed(requester)]), { violations })).toEqual({ [V1]: 'accepted' });
  });

  it('records only the digest of an oversized answer, and no content of an unreadable one', async () => {
    await admit(input([{ junk: 'x'.repeat(20_000) }, { junk: '\ud800' }]));
    const [big, unreadable] = added().map(({ row }) => row.body);
    expect(big).toMatchObject({ code: 'malformed', digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(JSON.stringify(big).length).toBeLessThan(1000);
    expect(unreadable).toMatchObject({ code: 'malformed', digest: null });
  });

  it('refuses an answer with a huge payload before it checks any signature', async () => {
    const huge: Envelope = {
      payloadType: 'application/vnd.in-toto+json',
      payload: toBase64(new Uint8Array(60_000)),
      signatures: [{ keyid: dana.keyId, sig: 'AAAA' }],
    };
    expect((await admit(input([huge]))).results).toEqual({
      '#0': { code: 'malformed', message: expect.stringContaining('payload of at most') },
    });
  });
});

describe('an admission that was not scheduled by the workflow of the review', () => {
  const forged = (answers: readonly unknown[], more: object): AdmitInput => ({ ...input(answers), ...more });
  const members = ['dana', 'eli', 'rita', 'mallory', 'stranger'];

  it('is compared with the ledger and the pinned plan, regardless of what else the input claims', async () => {
    const violations = VIOLATIONS.map((v) => ({ ...v, members, fourEyes: false }));
    const claims = { answersMode: 'unsigned', development: true, violations, requester: null, fingerprint: sha('9') };
    const results = [];
    for (const answer of [unsigned(), signed(stranger), signed(requester), signed(dana, { fingerprint: sha('9') })])
      results.push((await codes(forged([answer], claims)))[V1]);
    expect(results).toEqual(['unsigned_not_accepted', 'not_eligible', 'not_eligible', 'wrong_fingerprint']);
  });

  it('refuses every answer to a change that was not opened, and writes no row', async () => {
    const plans = answerPlans({ answers: 'signed', development: false, groups: GROUPS });
    const { results, admitted } = await createAnswerActivities({ ...deps, plans }).admitAnswer(
      input([signed(dana), {}]),
    );
    expect(Object.values(results).map(({ code }) => code)).toEqual(['too_early', 'too_early']);
    expect(admitted).toEqual([]);
    expect(ledger.all).toEqual([]);
  });
});

describe('a review that has ended in the ledger, even if a reset workflow is still open', () => {
  it.each(['receipt', 'decided'] as const)('refuses new answers once it has the row %s [T56]', async (kind) => {
    const first = await admit(input([signed(eli)]));
    await ledger.append(CHANGE, [{ kind, at: NOW, body: {}, factKey: 'x' }]);
    expect(await codes(input([signed(dana)]))).toEqual({ [V1]: 'closed' });
    expect(kinds()).toEqual(['answer_accepted', kind, 'answer_refused']);
    expect(await codes(input([signed(eli)], { admitted: digests(first) }))).toEqual({ [V1]: 'closed' });
  });
});

describe('the same answer sent again', () => {
  it('is a no-op without a second row, by signal and by update [T57]', async () => {
    const envelope = signed(dana);
    const first = await admit(input([envelope]));
    const again = await admit(input([envelope], { admitted: digests(first), via: 'signal' }));
    expect(again).toEqual({ results: { [V1]: { code: 'duplicate', message: expect.any(String) } }, admitted: [] });
    expect(kinds()).toEqual(['answer_accepted']);
    expect(await codes(input([envelope], { admitted: digests(first), closed: true }))).toEqual({ [V1]: 'duplicate' });
  });

  it('is returned again if the result of the first attempt was lost, even after its expiry [P8]', async () => {
    const envelope = signed(dana);
    const first = await admit(input([envelope]));
    now = '2026-03-01T13:00:00.000Z';
    const retried = await admit(input([envelope]));
    expect(retried).toEqual(first);
    expect(kinds()).toEqual(['answer_accepted']);
  });

  it('counts once if one message contains it twice', async () => {
    const envelope = signed(dana);
    const { results, admitted } = await admit(input([envelope, envelope]));
    expect(
      Object.values(results)
        .map((r) => r.code)
        .sort(),
    ).toEqual(['accepted', 'duplicate']);
    expect(admitted).toHaveLength(1);
  });

  it('counts once if the same person repeats it with another key or nonce', async () => {
    const first = await admit(input([signed(dana)]));
    const again = await admit(input([signed(danaToo), signed(dana)], { admitted: digests(first) }));
    expect(Object.values(again.results).map((r) => r.code)).toEqual(['duplicate', 'duplicate']);
    expect(again.admitted).toEqual([]);
    expect(kinds()).toEqual(['answer_accepted']);
  });

  it('is counted on the row of its refusal, and another answer has another row [P8]', async () => {
    const envelope = signed(stranger);
    for (let i = 0; i < 3; i++) await admit(input([envelope]));
    await admit(input([signed(stranger)]));
    expect(kinds()).toEqual(['answer_refused', 'answer_refused']);
    expect(await ledger.refusalCounts(CHANGE)).toEqual([
      { factKey: expect.stringMatching(/^answer_refused\/postgres\/#not_eligible:[0-9a-f]{64}$/), count: 2 },
    ]);
  });
});

describe('a contradicting answer', () => {
  it('cannot turn a reject of the same person into a confirm, however late it was signed [T57]', async () => {
    const first = await admit(input([signed(dana, { decision: 'reject' })]));
    const flip = await admit(input([signed(danaToo, { issuedAt: LATER })], { admitted: digests(first) }));
    expect(flip).toEqual({
      results: { [V1]: { code: 'contradicts', message: expect.stringContaining('already') } },
      admitted: [],
    });
    expect(kinds()).toEqual(['answer_accepted', 'answer_refused']);
  });

  it('turns a confirm of the same person into a reject, if it was signed later [T57]', async () => {
    await admit(input([signed(dana)]));
    expect(await codes(input([signed(danaToo, { decision: 'reject', issuedAt: LATER })]))).toEqual({
      [V1]: 'accepted',
    });
    expect(kinds()).toEqual(['answer_accepted', 'answer_accepted']);
  });

  it('is recorded if it is admitted concurrently, by the next attempt; the reject then decides', async () => {
    const reject = input([signed(danaToo, { decision: 'reject' })]);
    const [first, second] = await Promise.allSettled([admit(input([signed(dana)])), admit(reject)]);
    expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
    expect(kinds()).toEqual(['answer_accepted']);
    await admit(reject);
    expect(kinds()).toEqual(['answer_accepted', 'answer_accepted']);
  });

  it('is refused after a reject in the ledger, even if a reset workflow lost it', async () => {
    await admit(input([signed(dana, { decision: 'reject' })]));
    expect(await codes(input([signed(dana)]))).toEqual({ [V1]: 'contradicts' });
    expect(await codes(input([signed(eli)]))).toEqual({ [V1]: 'accepted' });
  });

  it('does not affect the answers of another person', async () => {
    await admit(input([signed(dana)]));
    expect(await codes(input([signed(eli, { decision: 'reject' })]))).toEqual({ [V1]: 'accepted' });
  });

  it('does not result from an unsigned reject in the name of the signer', async () => {
    await admit(input([unsigned({ decision: 'reject' })]), development);
    expect(await codes(input([signed(dana, { context: DEV })]), development)).toEqual({ [V1]: 'accepted' });
  });
});

describe('a retraction', () => {
  const confirmed = async (key: SigningKey = dana, more: Partial<AnswerPredicate> = {}) => {
    const envelope = signed(key, more);
    return { envelope, digest: messageDigest(envelope), ...(await admit(input([envelope]))) };
  };
  const retracting = (digest: string, more: Partial<AnswerPredicate> = {}) =>
    ({ decision: 'retract', retracts: digest, issuedAt: LATER, ...more }) as const;

  it('takes a confirm of the same person back, signed with any key of that person [T57]', async () => {
    const { digest, admitted } = await confirmed();
    const retraction = input([signed(danaToo, retracting(digest))], { admitted: [digest] });
    const { results, admitted: retracted } = await admit(retraction);
    expect(results).toEqual({ [V1]: { code: 'accepted', message: 'retract by dana' } });
    expect(retracted).toEqual([expect.objectContaining({ decision: 'retract', retracts: digest, issuedAt: LATER })]);
    expect(lastWords([...admitted, ...retracted])).toEqual([]);
    expect(kinds()).toEqual(['answer_accepted', 'retracted']);
  });

  it('is refused from another person, for another confirm, and without one', async () => {
    const { digest } = await confirmed();
    expect(await codes(input([signed(eli, retracting(digest))]))).toEqual({ [V1]: 'nothing_to_retract' });
    expect(await codes(input([signed(dana, retracting(sha('9')))]))).toEqual({ [V1]: 'nothing_to_retract' });
    expect(await codes(input([signed(dana, retracting(digest, { violationId: V2 }))]))).toEqual({
      [V2]: 'nothing_to_retract',
    });
    expect(kinds()).toEqual(['answer_accepted', 'answer_refused', 'answer_refused', 'answer_refused']);
  });

  it('makes an older confirm that arrives later, or again, refused as superseded', async () => {
    const { envelope, digest } = await confirmed();
    await admit(input([signed(dana, retracting(digest))]));
    const older = signed(danaToo, { issuedAt: '2026-03-01T11:59:10.000Z' });
    for (const replayed of [older, envelope]) expect(await codes(input([replayed]))).toEqual({ [V1]: 'superseded' });
    expect(await codes(input([signed(dana, { issuedAt: NOW })]))).toEqual({ [V1]: 'accepted' });
  });

  it('is a no-op if it is sent again, and is returned if its result was lost', async () => {
    const { digest } = await confirmed();
    const retract = signed(dana, retracting(digest));
    const first = await admit(input([retract]));
    expect(await admit(input([retract]))).toEqual(first);
    expect(await codes(input([retract], { admitted: digests(first) }))).toEqual({ [V1]: 'duplicate' });
    expect(await codes(input([signed(dana, retracting(digest))]))).toEqual({ [V1]: 'duplicate' });
    expect(kinds()).toEqual(['answer_accepted', 'retracted']);
  });

  it.each(['intent', 'decided'] as const)('is refused after the row %s, like every answer', async (kind) => {
    const { digest } = await confirmed();
    const entry = { kind, at: NOW, factKey: 'settlement', body: {} };
    // The activity has read the rows before the commit begins.
    const racing = {
      ...ledger,
      readKinds: async (...asked: Parameters<MemoryLedger['readKinds']>) => {
        const rows = await ledger.readKinds(...asked);
        if (!kinds().includes(kind)) await ledger.append(CHANGE, [entry]);
        return rows;
      },
    };
    deps = { ...deps, ledger: racing };
    const answers = [signed(dana, retracting(digest)), signed(eli, { decision: 'reject', violationId: V2 })];
    expect(await codes(input(answers))).toEqual({ [V1]: 'closed', [V2]: 'closed' });
    expect(kinds()).toEqual(['answer_accepted', kind, 'answer_refused', 'answer_refused']);
  });
});

it('fails with a type if the row `disclosed` cannot be read, and writes nothing', async () => {
  const refused = admit(input([signed(dana)]), { violations: [{ ...need, violationId: 'not a digest' }] });
  await expect(refused).rejects.toMatchObject({ type: 'CONFIGURATION_ERROR', nonRetryable: true });
  expect(kinds()).toEqual([]);
});

describe('answers of one person in one message', () => {
  const confirm = signed(dana);
  const again = signed(danaToo);
  const retract = signed(danaToo, { decision: 'retract', retracts: messageDigest(confirm) });
  const reject = signed(danaToo, { decision: 'reject' });

  it.each([
    ['a confirm and a retraction', [confirm, retract], null],
    ['a confirm and a reject', [confirm, reject], 'reject'],
    ['all three', [confirm, retract, reject], 'reject'],
    ['two confirms', [confirm, again], 'confirm'],
  ] as const)('of the same time: %s, in any order, and the stricter counts', async (_what, answers, expected) => {
    for (const order of [answers, [...answers].reverse()]) {
      ledger = memoryLedger();
      deps = { ...deps, ledger };
      const { admitted } = await admit(input(order));
      expect(lastWords(admitted)[0]?.decision ?? null).toBe(expected);
    }
  });

  it('have no influence on the answers of another person', async () => {
    const { admitted } = await admit(input([signed(eli), retract, confirm]));
    expect(lastWords(admitted).map(({ person }) => person)).toEqual(['eli']);
  });

  it('count only with a row: a confirm like one whose nonce was spent is not taken as recorded', async () => {
    const nonce = newNonce();
    const spent = await admit(input([signed(dana, { nonce, violationId: V2 })]));
    const second = await admit(input([signed(dana, { nonce }), again], { admitted: digests(spent) }));
    expect(digests(second)).toEqual([messageDigest(again)]);
  });
});

describe('recorded answers whose result the workflow did not receive', () => {
  it('are returned with the next answer of anyone', async () => {
    const lost = await admit(input([signed(dana)]));
    const next = await admit(input([signed(eli, { violationId: V2 })]));
    expect(new Set(digests(next))).toEqual(new Set([...digests(lost), ...digests(next)]));
    expect(digests(next)).toHaveLength(2);
  });

  it('are found again after the review has ended: the retry is not refused as closed', async () => {
    const answer = input([signed(dana, { decision: 'reject' })]);
    await admit(answer);
    await ledger.append(CHANGE, [{ kind: 'decided', at: NOW, factKey: 'settlement', body: {} }]);
    expect(await codes(answer)).toEqual({ [V1]: 'accepted' });
    expect(await codes(input([signed(eli)]))).toEqual({ [V1]: 'closed' });
    expect(kinds()).toEqual(['answer_accepted', 'decided', 'answer_refused']);
  });
});

describe('after the deadline of a violation', () => {
  const past: Rows = {
    violations: VIOLATIONS.map((v) => (v.violationId === V1 ? { ...v, deadlineMs: 3_600_000 } : v)),
  };

  it('a confirmation is refused, and a reject is admitted; other violations can still be confirmed', async () => {
    expect(await codes(input([signed(dana), signed(dana, { violationId: V2 })]), past)).toEqual({
      [V1]: 'expired',
      [V2]: 'accepted',
    });
    expect(await codes(input([signed(eli, { decision: 'reject' })]), past)).toEqual({ [V1]: 'accepted' });
  });

  it('a confirmation that was recorded in time is found again', async () => {
    now = '2026-03-01T11:59:59.999Z';
    const early = input([signed(dana)]);
    expect(await codes(early, past)).toEqual({ [V1]: 'accepted' });
    now = NOW;
    expect(await codes(early, past)).toEqual({ [V1]: 'accepted' });
  });
});

it('admits a person again whose key was revoked after the confirmation, with another key [P8]', async () => {
  const before = await admit(input([signed(dana)]));
  const lost = { ...dana, entry: { ...dana.entry, revokedAt: NOW } };
  deps = { ...deps, keys: testRegistry(lost, danaToo) };
  now = '2026-03-01T12:00:10.000Z';
  const again = input([signed(danaToo, { issuedAt: LATER })], { admitted: digests(before) });
  expect(await codes(again)).toEqual({ [V1]: 'accepted' });
  expect(kinds()).toEqual(['answer_accepted', 'answer_accepted']);
});

describe('an older answer', () => {
  it('is refused if it arrives after a later one of the same person, and recorded', async () => {
    await admit(input([signed(dana, { issuedAt: LATER })]));
    expect(await codes(input([signed(danaToo, { decision: 'reject' })]))).toEqual({ [V1]: 'superseded' });
    expect(kinds()).toEqual(['answer_accepted', 'answer_refused']);
  });
});

describe('bounds', () => {
  it('accepts a nonce once across all violations and reviews, and records the second use as refused', async () => {
    const nonce = newNonce();
    expect(await codes(input([signed(dana, { nonce }), signed(dana, { nonce, violationId: V2 })]))).toEqual({
      [V1]: 'accepted',
      [V2]: 'nonce_reused',
    });
    const elsewhere = sha('5');
    expect(await codes(input([signed(dana, { nonce, changeId: elsewhere })], { changeId: elsewhere }))).toEqual({
      [V1]: 'nonce_reused',
    });
    expect(kinds()).toEqual(['answer_accepted', 'answer_refused', 'answer_refused']);
  });

  it('only counts refusals after 100 recorded ones, still returns the reason, and still accepts a valid answer', async () => {
    for (let i = 0; i < 2; i++) await admit(input(Array.from({ length: 50 }, () => signed(stranger))));
    const { results } = await admit(input([signed(stranger), signed(dana, { violationId: V2 })]));
    expect(results).toMatchObject({
      [V1]: { code: 'too_many_refusals', message: expect.stringContaining('not_eligible') },
      [V2]: { code: 'accepted' },
    });
    expect(added()).toHaveLength(101);
    expect(await ledger.refusalCounts(CHANGE)).toEqual([{ factKey: 'answer_refused/postgres/', count: 1 }]);
  });

  it('throws and admits nothing while the ledger is unavailable [P8]', async () => {
    await codes(input([signed(stranger)]));
    ledger.down = new Error('STORE_UNAVAILABLE');
    await expect(admit(input([signed(dana)]))).rejects.toThrow('STORE_UNAVAILABLE');
    ledger.down = null;
    expect(await codes(input([signed(dana)]))).toEqual({ [V1]: 'accepted' });
  });

  it('takes the person from the registry entry of the key, not from the answer', async () => {
    const entry: RegisteredKey = { ...dana.entry, subject: { type: 'person', id: 'eli' } };
    const find = lookup({ entry });
    deps = { ...deps, keys: { snapshot: async () => ({ find, keys: [entry], ignored: [] }) } };
    expect((await admit(input([signed(dana)]))).admitted[0]?.person).toBe('eli');
  });
});
