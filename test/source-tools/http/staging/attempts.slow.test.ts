import { setTimeout as sleep } from 'node:timers/promises';
import type { CommitContext } from '../../../../policy/contracts/target-effects';
import { httpPatchEffects } from '../../../../source-tools/http/staging';
import { toHttpSettings } from '../../../../source-tools/http/staging-settings';
import { eventually } from '../../../support/eventually';
import { startSwitchProxy, type SwitchProxy } from '../../../support/switch-proxy';
import { toSettle } from '../../../support/to-settle';
import { approvedChange, useJsonApi, type More } from './http-change';

const { commit, seal, lateMs } = httpPatchEffects;

const api = useJsonApi();

/** Seals wait twice as long. No request of these tests takes as long on a busy machine, unless the API holds it. */
const TIMEOUT_MS = 1_000;
const approved = (more: More = {}, extra: Partial<CommitContext> = {}): Promise<CommitContext> =>
  approvedChange(api, { settings: { timeoutMs: TIMEOUT_MS }, ...more }, extra);
const writes = (): readonly string[] =>
  api.requests.filter(({ method }) => method !== 'GET').map(({ method }) => method);

describe('a 412 to a request that was sent again', () => {
  /** An attempt whose request is in flight, and another one that is answered with 412. */
  async function refusedAgain(): Promise<{
    ctx: CommitContext;
    refused: ReturnType<typeof commit>;
    arrive: () => void;
  }> {
    const ctx = await approved({ http: { replaysIdempotent: true } });
    let arrive: () => void = () => {};
    const held = new Promise<void>((resolve) => (arrive = resolve));
    api.behaviour.beforeWrite = () => held;
    await expect(commit(ctx)).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE' });
    api.behaviour.beforeWrite = () => {};
    api.behaviour.write = 412;
    const refused = commit(ctx);
    await eventually('the seal', async () => (await ctx.sends.state()).sealed);
    api.behaviour.write = 'proper';
    return { ctx, refused, arrive };
  }

  it('ends the change, after which no attempt sends [T65]', async () => {
    const { ctx, refused } = await refusedAgain();
    expect(await refused).toMatchObject({ kind: 'stale', final: true });
    expect(await ctx.sends.begin({ resend: true })).toEqual({ kind: 'sealed' });
  });

  it('does not end it before the first request can have arrived', async () => {
    const { refused, arrive } = await refusedAgain();
    arrive();
    expect(await refused).toMatchObject({ kind: 'applied' });
    expect(api.applied).toHaveLength(1);
  });
});

describe('a seal', () => {
  it('lets no attempt send while it waits for requests in flight, also if one was sent before [T65]', async () => {
    const ctx = await approved();
    api.behaviour.write = 401;
    expect(await commit(ctx)).toMatchObject({ kind: 'refused' });
    api.behaviour.write = 'proper';
    const sealing = seal(toSettle(ctx));
    await eventually('the seal', async () => (await ctx.sends.state()).sealed);
    expect(await commit(ctx)).toEqual({ kind: 'sealed' });
    expect(await sealing).toEqual({ found: false });
    expect(api.applied).toEqual([]);
  });

  it('finds a request that was in flight, and its post validators then run', async () => {
    const ctx = await approved();
    let answer: () => void = () => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    api.behaviour.beforeWrite = () => held;
    const lost = commit(ctx);
    await eventually('the request', () => writes().length === 1);
    const sealing = seal(toSettle(ctx));
    await eventually('the first read of the seal', () => api.requests.at(-1)?.method === 'GET');
    answer();
    expect(await sealing).toMatchObject({ found: true, unchecked: true });
    await lost;
    const checked = jest.fn(async () => ({ ok: true }) as const);
    expect(await commit({ ...ctx, postCheck: checked })).toMatchObject({ kind: 'applied', replayed: true });
    expect(checked).toHaveBeenCalledTimes(1);
    expect(writes()).toEqual(['PATCH']);
  });

  it.each<[string, () => void, (says: Promise<unknown>) => Promise<unknown>]>([
    [
      'is in neither state',
      () => void api.documents.set('/v1/flags/beta', { on: false, owners: ['eve'] }),
      (says) => expect(says).resolves.toMatchObject({ found: 'unknown' }),
    ],
    [
      'cannot be read',
      () => void (api.behaviour.read = 503),
      (says) => expect(says).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE' }),
    ],
  ])('of a change whose resource %s leaves the outcome open until `lateMs`', async (_, happen, expectUnknown) => {
    api.behaviour.etag = 'none';
    const put = { method: 'PUT', contentType: 'application/json', body: { on: true } };
    const ctx = await approved({ staged: put });
    let answer: () => void = () => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    api.behaviour.beforeWrite = () => held;
    const late = commit(ctx);
    await eventually('the request', () => writes().length === 1);
    happen();
    await expectUnknown(seal(toSettle(ctx)));
    api.behaviour.read = 'proper';
    answer();
    await late;
    expect(await seal(toSettle(ctx))).toMatchObject({ found: true });
    // Until then an operator's "not applied" does not settle the change.
    const timeoutMs = (lateMs ?? 0) / 2;
    expect(toHttpSettings({ timeoutMs })).toMatchObject({ timeoutMs });
    expect(() => toHttpSettings({ timeoutMs: timeoutMs + 1 })).toThrow('timeoutMs');
  });
});

describe('the time limit of a request', () => {
  afterEach(() => void jest.restoreAllMocks());

  const during = (ctx: CommitContext, wait: () => Promise<void>) => ({
    'reading whether the change has ended': { endedMeanwhile: () => wait().then(() => null) },
    'writing the row': {
      sends: { ...ctx.sends, begin: (more: { resend: boolean }) => wait().then(() => ctx.sends.begin(more)) },
    },
  });
  const slept = async (): Promise<void> => {
    const now = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => now + TIMEOUT_MS + 100);
  };

  it.each([
    ['reading whether the change has ended', 'takes longer', () => sleep(TIMEOUT_MS + 100)],
    ['writing the row', 'takes longer', () => sleep(TIMEOUT_MS + 100)],
    ['writing the row', 'is interrupted because the machine sleeps', slept],
  ] as const)('lets nothing be sent if %s %s, since the seal waits no longer', async (step, _, wait) => {
    const ctx = await approved();
    const slow = during(ctx, wait)[step];
    await expect(commit({ ...ctx, ...slow })).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE' });
    expect(writes()).toEqual([]);
    expect((await ctx.sends.state()).sent).toBe(false);
  });
});

describe('an attempt after one that did not report', () => {
  it('does not send again if another client restored the state before with the same ETag, and the seal ends it', async () => {
    const ctx = await approved();
    api.behaviour.write = 'applies_then_drops';
    api.behaviour.afterWrite = () => void api.documents.set('/v1/flags/beta', { on: false, owners: ['ada'] });
    expect(await commit(ctx)).toMatchObject({ kind: 'unknown' });
    api.behaviour.write = 'proper';
    expect(await commit(ctx)).toMatchObject({ kind: 'unknown' });
    expect(api.applied).toHaveLength(1);
    expect(await seal(toSettle(ctx))).toEqual({ found: false });
  });

  it.each<[string, (proxy: SwitchProxy) => Promise<void>, (proxy: SwitchProxy) => Promise<void>]>([
    ['the connection was refused, so no byte of it was sent', (proxy) => proxy.down(), (proxy) => proxy.up()],
    [
      'it was answered with 429',
      async () => void (api.behaviour.write = 429),
      async () => void (api.behaviour.write = 'proper'),
    ],
  ])('sends the request again if %s, and the state before still stands', async (_, fail, recover) => {
    const { hostname, port } = new URL(api.url);
    const proxy = await startSwitchProxy({ host: hostname, port: Number(port) });
    try {
      const url = `http://127.0.0.1:${proxy.port}/v1`;
      const ctx = await approved({ http: { baseUrl: url }, staged: { url: `${url}/flags/beta` } });
      const { sends } = ctx;
      // Fails between the read and the request.
      const failing: typeof sends.begin = async (options) => {
        const begun = await sends.begin(options);
        await fail(proxy);
        return begun;
      };
      const attempt = commit({ ...ctx, sends: { ...sends, begin: failing } });
      await expect(attempt).rejects.toMatchObject({
        type: 'TARGET_UNAVAILABLE',
        message: expect.stringContaining('PATCH'),
      });
      await recover(proxy);
      expect(await commit(ctx)).toMatchObject({ kind: 'applied', replayed: false });
      expect(api.applied).toHaveLength(1);
    } finally {
      await proxy.stop();
    }
  });

  it('is sealed exactly if no byte of the request was sent, whatever the state of the resource', async () => {
    const ctx = await approved();
    const begun = await ctx.sends.begin({ resend: false });
    if (begun.kind === 'begun') await begun.takeBack();
    api.documents.set('/v1/flags/beta', { on: false, owners: ['eve'] });
    expect(await seal(toSettle(ctx))).toEqual({ found: false });
  });
});

describe('an undo', () => {
  const rejects = async () => ({ ok: false, explanation: 'guardian.x: no' }) as const;
  const undoable = (): Promise<CommitContext> => approved({ http: { undo: 'put' } }, { postCheck: rejects });
  /** The API fails to answer reads after the nth write. */
  const blindAfter = (nth: number): void => {
    let n = 0;
    api.behaviour.afterWrite = () => {
      if (++n === nth) api.behaviour.read = 503;
    };
  };

  it('is found by the seal if the attempt ended after its request, and the change is not applied again', async () => {
    const ctx = await undoable();
    blindAfter(2);
    await expect(commit(ctx)).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE' });
    api.behaviour.read = 'proper';
    expect(await commit(ctx)).toEqual({ kind: 'sealed' });
    expect(await seal(toSettle(ctx))).toMatchObject({
      found: 'undone',
      explanation: 'guardian.x: no',
      effect: { etagAfter: null },
    });
    expect(writes()).toEqual(['PATCH', 'PUT']);
  });

  it('is awaited by the seal if its request is in flight, which no other attempt reports as applied', async () => {
    const ctx = await undoable();
    let answer: () => void = () => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    api.behaviour.afterWrite = () => void (api.behaviour.beforeWrite = () => held);
    const undoing = commit(ctx);
    await eventually('the request to undo', () => writes().length === 2);
    expect(await commit(ctx)).toEqual({ kind: 'sealed' });
    const reads = api.requests.length;
    const sealing = seal(toSettle(ctx));
    await eventually('the first read of the seal', () => api.requests.length > reads);
    answer();
    expect(await sealing).toMatchObject({ found: 'undone' });
    await undoing;
  });

  /** The connection is closed when the request to undo arrives, which is not applied. */
  const dropUndo = (): void => {
    const dropped = (): void => void (api.behaviour.write = 'drops');
    api.behaviour.afterWrite = () => void (api.behaviour.beforeWrite = dropped);
  };

  it('that had no effect leaves an effect that should be reverted, and the seal says so', async () => {
    const ctx = await undoable();
    dropUndo();
    expect(await commit(ctx)).toMatchObject({ kind: 'unknown', explanation: expect.stringContaining('PUT') });
    expect(await seal(toSettle(ctx))).toMatchObject({
      found: true,
      shouldBeReverted: expect.stringContaining('guardian.x: no'),
    });
  });

  it('that the server accepts and applies later is awaited by the seal', async () => {
    const ctx = await undoable();
    let apply: () => void = () => {};
    const accepted = (): void => {
      api.behaviour.write = 202;
      apply = () => void api.documents.set('/v1/flags/beta', { on: false, owners: ['ada'] });
    };
    api.behaviour.afterWrite = () => void (api.behaviour.beforeWrite = accepted);
    expect(await commit(ctx)).toMatchObject({ kind: 'unknown', explanation: expect.stringContaining('status 202') });
    const reads = api.requests.length;
    const sealing = seal(toSettle(ctx));
    await eventually('the first read of the seal', () => api.requests.length > reads);
    apply();
    expect(await sealing).toMatchObject({ found: 'undone', explanation: 'guardian.x: no' });
  });

  it('that had no effect is not reported as an undone effect by an attempt that read the resource before the effect', async () => {
    const ctx = await undoable();
    dropUndo();
    const { sends } = ctx;
    const afterAnother: typeof sends.state = async () => {
      expect(await commit(ctx)).toMatchObject({ kind: 'unknown', explanation: expect.stringContaining('PUT') });
      return sends.state();
    };
    expect(await commit({ ...ctx, sends: { ...sends, state: afterAnother } })).toEqual({ kind: 'sealed' });
    expect(await seal(toSettle(ctx))).toMatchObject({
      found: true,
      shouldBeReverted: expect.stringContaining('guardian.x: no'),
    });
  });

  it.each<[string, (ctx: CommitContext) => Promise<unknown>, object]>([
    ['a seal has found the effect', (ctx) => seal(toSettle(ctx)), { found: true, unchecked: true }],
    ['another attempt has reported the effect as one that should be reverted', commit, { kind: 'applied' }],
  ])('is not begun after %s', async (_, settle, settled) => {
    const ctx = await undoable();
    const settledMeanwhile: CommitContext['postCheck'] = async () => {
      expect(await settle(ctx)).toMatchObject(settled);
      return rejects();
    };
    expect(await commit({ ...ctx, postCheck: settledMeanwhile })).toMatchObject({ kind: 'unknown' });
    expect(writes()).toEqual(['PATCH']);
  });

  it('that has begun forbids every other attempt to report the effect as applied', async () => {
    const ctx = await undoable();
    const late: CommitContext['postCheck'] = async () => {
      // Both attempts have seen the effect. The one that sent the request undoes it while this one checks.
      await ctx.sends.beginUndo('guardian.x: no');
      return { ok: true };
    };
    expect(await commit({ ...ctx, postCheck: late })).toMatchObject({
      kind: 'unknown',
      explanation: expect.stringContaining('guardian.x: no'),
    });
  });
});
