import type { AnswerDeps } from '../../../activities/review/admit-answer';
import { createWithdrawalActivities } from '../../../activities/review/admit-withdrawal';
import { changeId as changeIdOf, inputSha } from '../../../policy/contracts/change-id';
import { Submission } from '../../../policy/contracts/diff';
import { policyMoved } from '../../../policy/contracts/failure';
import type { Plan } from '../../../policy/contracts/plan';
import { openEnvelope } from '../../../policy/evidence/dsse';
import type { PredicateOf } from '../../../policy/evidence/statement';
import { signPredicate } from '../../../signing/envelope';
import { newNonce } from '../../../signing/nonce';
import { testKey, testRegistry, type TestKey } from '../../support/keys';
import { memoryLedger, type MemoryLedger } from '../../support/memory-ledger';
import { planOf } from '../../support/plan';

const NOW = '2026-03-01T12:00:00.000Z';
/** The clock of the database is behind that of the process. */
const DATABASE_NOW = '2026-03-01T11:59:30.000Z';
const service = testKey('service', 'shopbot', { onBehalfOf: 'rita' });
const sameRequester = testKey('service', 'shopbot-2', { onBehalfOf: 'rita' });
const otherService = testKey('service', 'payrollbot', { onBehalfOf: 'eve' });
const unnamed = testKey('service', 'nightly');
const dana = testKey('approver', 'dana');
const stranger = testKey('approver', 'stranger');
const robot = testKey('approver', 'dana', { subject: { type: 'agent', id: 'dana' } });
const revoked = testKey('approver', 'dana', { revokedAt: NOW });
const demo = testKey('approver', 'dana', { demo: true });
const readOnly = testKey('approver', 'dana', { rights: ['read'] });
const unknown = testKey('approver', 'dana');

let ledger: MemoryLedger;
let deps: AnswerDeps;
const plan: Pick<Plan, 'groups' | 'development'> = {
  groups: { dba: { members: ['dana', 'eli'] } } as unknown as Plan['groups'],
  development: false,
};
beforeEach(() => {
  ledger = memoryLedger();
  const keys = [service, sameRequester, otherService, unnamed, dana, stranger, robot, revoked, demo, readOnly];
  deps = {
    ledger,
    keys: testRegistry(...keys),
    plans: { byHash: async (planHash) => ({ plan: { ...planOf([]), ...plan }, planHash, revision: 1 }) },
    databaseNow: async () => new Date(NOW),
  };
});

interface Change {
  readonly requestKey?: string;
  readonly tenant?: string;
  readonly target?: string;
  readonly sourceTool?: string;
  readonly supersedes?: string;
}

/** Opens a change, signed by `by`, or unsigned if null. Returns its id. */
async function opened(by: TestKey | null = service, change: Change = {}): Promise<string> {
  const fields = { tenant: 'acme', target: 'shop', sourceTool: 'SQLCAS', diffSha: 'd'.repeat(64), ...change };
  const unsigned = Submission.parse(fields);
  const changeId = changeIdOf(unsigned);
  const predicate = {
    changeId,
    inputSha: inputSha(unsigned),
    keyId: by?.keyId ?? '',
    onBehalfOf: by?.entry.onBehalfOf ?? null,
    supersedes: change.supersedes ?? null,
    nonce: newNonce(),
    issuedAt: NOW,
  };
  const submission = by === null ? unsigned : { ...unsigned, envelope: signPredicate('submission', predicate, by) };
  const row = (kind: 'submitted' | 'planned', body: object) =>
    ({ kind, at: NOW, factKey: kind, body: body as never }) as const;
  const rows = [row('submitted', { submission }), row('planned', { planHash: 'e'.repeat(64) })];
  const { tenant, target, sourceTool } = unsigned;
  const first = { tenant, target, sourceTool, inputSha: inputSha(unsigned), mode: 'enforced', openedAt: NOW } as const;
  await ledger.append(changeId, rows, first);
  return changeId;
}

function withdrawal(changeId: string, by: TestKey, more: Partial<PredicateOf<'withdraw'>> = {}) {
  const members = { changeId, keyId: by.keyId, actor: 'me', reason: 'wrong', nonce: newNonce(), issuedAt: NOW };
  return { statement: signPredicate('withdraw', { ...members, ...more }, by) };
}
function supersession(changeId: string, by: TestKey, other: string) {
  const members = { changeId, keyId: by.keyId, actor: 'me', reason: '', nonce: newNonce(), issuedAt: NOW };
  return { statement: signPredicate('supersede', { ...members, by: other }, by) };
}
const send = (kind: 'withdraw' | 'supersede', changeId: string, message: unknown) =>
  createWithdrawalActivities(deps).admitWithdrawal({ changeId, kind, message, via: 'update' });
const codeOf = async (...asked: Parameters<typeof send>) => (await send(...asked)).result.code;
const rowsOf = async (changeId: string) => (await ledger.read(changeId)).map(({ row }) => row);
const kinds = async (changeId: string) => (await rowsOf(changeId)).map(({ kind }) => kind).slice(2);

describe('a withdrawal', () => {
  it.each<[string, TestKey, string]>([
    ['the service key that submitted the change', service, 'Withdrawn by service shopbot, for rita: wrong'],
    ['an approver of the plan', dana, 'Withdrawn by dana: wrong'],
  ])('counts if it is signed by %s, once the ledger has its row [P8]', async (_who, key, explanation) => {
    const changeId = await opened();
    const message = withdrawal(changeId, key);
    expect(await send('withdraw', changeId, message)).toEqual({
      result: { code: 'accepted', message: explanation },
      stopped: { reason: 'withdrawn', explanation },
    });
    expect((await rowsOf(changeId)).at(-1)).toMatchObject({
      kind: 'withdrawn',
      body: { statement: message.statement, explanation, keyId: key.keyId, person: key.entry.subject.id },
    });
  });

  it('may be signed with a key that is newer than the cached registry', async () => {
    const [cached, current] = [testRegistry(service), testRegistry(service, dana)];
    deps = { ...deps, keys: { snapshot: (maxAgeMs) => (maxAgeMs === 0 ? current : cached).snapshot() } };
    const changeId = await opened();
    expect(await codeOf('withdraw', changeId, withdrawal(changeId, dana))).toBe('accepted');
  });

  it('is refused if its key is revoked, although the cached registry still has the key as active', async () => {
    const [cached, current] = [
      testRegistry(service, dana),
      testRegistry(service, { entry: { ...dana.entry, revokedAt: NOW } }),
    ];
    deps = { ...deps, keys: { snapshot: (maxAgeMs) => (maxAgeMs === 0 ? current : cached).snapshot() } };
    const changeId = await opened();
    expect(await codeOf('withdraw', changeId, withdrawal(changeId, dana))).toBe('revoked_key');
    expect(await kinds(changeId)).toEqual(['answer_refused']);
  });

  it('has the time of the database in its row, from before the registry is read', async () => {
    const order: string[] = [];
    const databaseNow = async () => (order.push('clock'), new Date(DATABASE_NOW));
    const snapshot: AnswerDeps['keys']['snapshot'] = (maxAgeMs) => (
      order.push('registry'),
      testRegistry(service, dana).snapshot(maxAgeMs)
    );
    deps = { ...deps, databaseNow, keys: { snapshot } };
    const changeId = await opened();
    await send('withdraw', changeId, { junk: true });
    await send('withdraw', changeId, withdrawal(changeId, dana));
    expect((await rowsOf(changeId)).slice(2).map(({ at }) => at)).toEqual([DATABASE_NOW, DATABASE_NOW]);
    expect(order).toEqual(['clock', 'registry', 'clock', 'registry']);
  });

  it.each<[string, string, (changeId: string) => unknown]>([
    ['is not signed', 'malformed', () => ({ actor: 'rita', reason: 'wrong' })],
    ['is signed by an unregistered key', 'unknown_key', (id) => withdrawal(id, unknown)],
    ['is signed by a revoked key', 'revoked_key', (id) => withdrawal(id, revoked)],
    ['is signed by a demo key', 'demo_key', (id) => withdrawal(id, demo)],
    ['is signed by another service key', 'not_eligible', (id) => withdrawal(id, otherService)],
    ['is signed by another service key of the requester', 'not_eligible', (id) => withdrawal(id, sameRequester)],
    ['is signed by a person outside the groups of the plan', 'not_eligible', (id) => withdrawal(id, stranger)],
    ['is signed by an agent under the name of an approver', 'not_eligible', (id) => withdrawal(id, robot)],
    ['is signed by an approver without the right to answer', 'not_eligible', (id) => withdrawal(id, readOnly)],
    ['is signed for another change', 'wrong_context', () => withdrawal('9'.repeat(64), dana)],
    [
      'is signed in the future',
      'not_yet_valid',
      (id) => withdrawal(id, dana, { issuedAt: '2026-03-01T12:02:00.000Z' }),
    ],
    ['is a supersession', 'malformed', (id) => supersession(id, dana, '9'.repeat(64))],
    [
      'has the signature of another statement',
      'bad_signature',
      (id) => {
        const [a, b] = [withdrawal(id, dana).statement, withdrawal('9'.repeat(64), dana).statement];
        return { statement: { ...a, signatures: b.signatures } };
      },
    ],
    [
      'has the words of another statement',
      'malformed',
      (id) => {
        const { statement } = withdrawal(id, dana);
        return { statement: { ...statement, payload: statement.payload.slice(0, -4) } };
      },
    ],
  ])('is refused and recorded if it %s', async (_what, code, make) => {
    const changeId = await opened();
    const { result, stopped } = await send('withdraw', changeId, make(changeId));
    expect([result.code, stopped]).toEqual([code, null]);
    expect((await rowsOf(changeId)).at(-1)).toMatchObject({
      kind: 'answer_refused',
      body: { code, about: 'withdraw' },
    });
  });

  it('of an unsigned submission needs an approver', async () => {
    const changeId = await opened(null);
    expect(await codeOf('withdraw', changeId, withdrawal(changeId, service))).toBe('not_eligible');
    expect(await codeOf('withdraw', changeId, withdrawal(changeId, dana))).toBe('accepted');
  });

  it('spends its nonce: the same key cannot use it for another statement', async () => {
    const [first, second] = [await opened(), await opened(service, { requestKey: '2' })];
    const nonce = newNonce();
    expect(await codeOf('withdraw', first, withdrawal(first, dana, { nonce }))).toBe('accepted');
    expect(await codeOf('withdraw', second, withdrawal(second, dana, { nonce }))).toBe('nonce_reused');
    expect(await kinds(second)).toEqual(['answer_refused']);
  });

  it('is a no-op if it is sent again, or after another one, and still says how the review ended', async () => {
    const changeId = await opened();
    const message = withdrawal(changeId, dana);
    const { stopped } = await send('withdraw', changeId, message);
    for (const again of [message, withdrawal(changeId, service)])
      expect(await send('withdraw', changeId, again)).toEqual({
        result: { code: 'duplicate', message: stopped?.explanation },
        stopped,
      });
    expect(await kinds(changeId)).toEqual(['withdrawn']);
    expect(await send('withdraw', changeId, { junk: true })).toMatchObject({ result: { code: 'malformed' }, stopped });
  });

  it.each(['intent', 'decided'] as const)('is too late after the row %s', async (kind) => {
    const changeId = await opened();
    await ledger.append(changeId, [{ kind, at: NOW, factKey: 'settlement', body: {} }]);
    expect(await send('withdraw', changeId, withdrawal(changeId, dana))).toMatchObject({
      result: { code: 'too_late' },
      stopped: null,
    });
    expect(await kinds(changeId)).toEqual([kind, 'answer_refused']);
  });

  describe('that is judged by two attempts, one of which was reported as failed,', () => {
    /** Judges the withdrawal with the registry `own`; after the rows were read, another attempt judges it with `other`, to `code`. */
    async function beside(own: readonly TestKey[], other: readonly TestKey[], code: string): Promise<string> {
      const changeId = await opened();
      const statement = withdrawal(changeId, dana);
      let isFirstLook = true;
      const snapshot: AnswerDeps['keys']['snapshot'] = async () => {
        if (isFirstLook) {
          isFirstLook = false;
          deps = { ...deps, keys: testRegistry(...other) };
          expect(await codeOf('withdraw', changeId, statement)).toBe(code);
        }
        return testRegistry(...own).snapshot();
      };
      deps = { ...deps, keys: { snapshot } };
      const failed = { type: 'STORE_UNAVAILABLE', nonRetryable: false };
      await expect(send('withdraw', changeId, statement)).rejects.toMatchObject(failed);
      return changeId;
    }

    it('is not recorded after the other attempt has refused it', async () => {
      const changeId = await beside([service, dana], [service], 'unknown_key');
      expect(await kinds(changeId)).toEqual(['answer_refused']);
    });

    it('is not refused after the other attempt has recorded it, and the next attempt finds it', async () => {
      const changeId = await beside([service], [service, dana], 'accepted');
      expect(await kinds(changeId)).toEqual(['withdrawn']);
      const next = await send('withdraw', changeId, withdrawal(changeId, dana));
      expect(next.stopped).toMatchObject({ reason: 'withdrawn' });
    });
  });

  it('of an invented change writes no row', async () => {
    expect(await codeOf('withdraw', '8'.repeat(64), withdrawal('8'.repeat(64), dana))).toBe('not_open');
    expect(ledger.all).toEqual([]);
  });

  it('by the requester is possible even if the policy was revoked; by an approver it is not', async () => {
    deps = { ...deps, plans: { byHash: async () => Promise.reject(policyMoved('revoked')) } };
    const changeId = await opened();
    expect(await codeOf('withdraw', changeId, withdrawal(changeId, dana))).toBe('not_eligible');
    expect(await codeOf('withdraw', changeId, withdrawal(changeId, service))).toBe('accepted');
  });

  it('is only counted, not recorded, after 100 refusals', async () => {
    const changeId = await opened();
    for (let i = 0; i < 100; i++) await send('withdraw', changeId, { junk: i });
    expect(await codeOf('withdraw', changeId, { junk: true })).toBe('too_many_refusals');
  });
});

describe('a change that supersedes another', () => {
  it('ends it by its signed submission, without a second signature', async () => {
    const first = await opened();
    const second = await opened(sameRequester, { requestKey: '2', supersedes: first });
    const explanation = `Superseded by ${second}, signed by service shopbot-2, for rita`;
    expect(await send('supersede', first, { by: second })).toEqual({
      result: { code: 'accepted', message: explanation },
      stopped: { reason: 'superseded', explanation },
    });
    const body = (await rowsOf(first)).at(-1)?.body;
    expect(body).toMatchObject({ statement: null, by: second, other: { supersedes: first } });
  });

  it('ends it by a statement of the requester or an approver, if its submission names nothing', async () => {
    for (const key of [service, dana]) {
      const first = await opened(service, { requestKey: `a${key.keyId}` });
      const second = await opened(service, { requestKey: `b${key.keyId}` });
      expect(await codeOf('supersede', first, { by: second })).toBe('not_eligible');
      expect(await codeOf('supersede', first, supersession(first, key, second))).toBe('accepted');
    }
  });

  it.each<[string, TestKey | null, Change]>([
    ['another requester', otherService, {}],
    ['an unknown requester', unnamed, {}],
    ['a requester who did not sign it', null, {}],
    ['another target', service, { target: 'shop2' }],
    ['another source tool', service, { sourceTool: 'SQLDryRun' }],
    ['another tenant', service, { tenant: 'other' }],
  ])('is refused if it is of %s, with or without a statement', async (_what, key, change) => {
    const first = await opened();
    const second = await opened(key, { requestKey: '2', supersedes: first, ...change });
    expect(await codeOf('supersede', first, { by: second })).toBe('not_eligible');
    expect(await codeOf('supersede', first, supersession(first, dana, second))).toBe('not_eligible');
    expect(await kinds(first)).toEqual(['answer_refused', 'answer_refused']);
  });

  it('is refused if it was not opened, names another change, or is the change itself', async () => {
    const first = await opened();
    const third = await opened(service, { requestKey: '3', supersedes: '9'.repeat(64) });
    for (const by of ['7'.repeat(64), third, first])
      expect(await codeOf('supersede', first, { by })).toBe('not_eligible');
  });

  it('is refused if two submissions without a signature, or of unknown requesters, claim to belong together', async () => {
    for (const key of [null, unnamed]) {
      const first = await opened(key, { requestKey: `1${key === null}` });
      const second = await opened(key, { requestKey: `2${key === null}`, supersedes: first });
      // The same service key is the same requester, even if it is registered for no person.
      expect(await codeOf('supersede', first, { by: second })).toBe(key === null ? 'not_eligible' : 'accepted');
    }
  });

  it('is refused if the member `supersedes` was added after the submission was signed', async () => {
    const first = await opened();
    const second = await opened(service, { requestKey: '2' });
    const [row] = await ledger.readKinds(second, ['submitted']);
    if (row === undefined) throw new Error('no row');
    const { submission } = row.row.body as unknown as { submission: Submission };
    const forged = memoryLedger();
    ledger = forged;
    deps = { ...deps, ledger };
    await opened();
    const body = { submission: { ...submission, supersedes: first } } as never;
    await ledger.append(second, [{ kind: 'submitted', at: NOW, factKey: 'submitted', body }]);
    expect(openEnvelope('submission', submission.envelope).ok).toBe(true);
    expect(await codeOf('supersede', first, { by: second })).toBe('not_eligible');
  });
});
