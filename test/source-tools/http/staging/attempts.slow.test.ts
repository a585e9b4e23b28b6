import { setTimeout as sleep } from 'node:timers/promises';
import type { CommitContext } from '../../../../policy/contracts/target-effects';
import { httpPatchEffects } from '../../../../source-tools/http/staging';
import { startJsonApi, type JsonApi } from '../../../../dev/fixtures/json-api';
import { eventually } from '../../../support/eventually';
import { toSettle } from '../../../support/to-settle';
import { approvedChange, type More } from './http-change';

const { commit, seal } = httpPatchEffects;

let api: JsonApi;
beforeAll(async () => {
  api = await startJsonApi();
});
afterAll(() => api.stop());
beforeEach(() => {
  api.reset();
  api.documents.set('/v1/flags/beta', { on: false, owners: ['ada'] });
});

const approved = (more: More = {}, extra: Partial<CommitContext> = {}): Promise<CommitContext> =>
  approvedChange(api, { settings: { timeoutMs: 500 }, ...more }, extra);
const writes = (): readonly string[] =>
  api.requests.filter(({ method }) => method !== 'GET').map(({ method }) => method);

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
});

it('sends nothing if the time limit of the request ends before the row is confirmed, since the seal waits no longer', async () => {
  const ctx = await approved();
  const { sends } = ctx;
  const slow: typeof sends.begin = async (options) => {
    const begun = await sends.begin(options);
    await sleep(600);
    return begun;
  };
  await expect(commit({ ...ctx, sends: { ...sends, begin: slow } })).rejects.toMatchObject({
    type: 'TARGET_UNAVAILABLE',
  });
  expect(writes()).toEqual([]);
});
