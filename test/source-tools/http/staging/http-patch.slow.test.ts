import type { CommitContext, StageContext } from '../../../../policy/contracts/target-effects';
import { httpPatchEffects } from '../../../../source-tools/http/staging';
import { stagingSha } from '../../../../policy/contracts/staging-record';
import { eventually } from '../../../support/eventually';
import { toSettle } from '../../../support/to-settle';
import { recordOf } from '../../../support/staged-change';
import { approvedChange, httpChange, retried, useJsonApi, type More } from './http-change';

const { stage, commit, seal } = httpPatchEffects;

const api = useJsonApi();

const change = (more?: More): StageContext => httpChange(api, more);
const approved = (more?: More, extra?: Partial<CommitContext>): Promise<CommitContext> =>
  approvedChange(api, more, extra);

const now = (): unknown => JSON.parse(JSON.stringify(api.documents.get('/v1/flags/beta')));
const writes = (): typeof api.requests => api.requests.filter(({ method }) => method !== 'GET');

describe('a dry run', () => {
  it('reads the resource, tries the patch on a copy, and writes nothing', async () => {
    const record = recordOf(await stage(change()));
    expect(record).toMatchObject({
      fullyCaptured: true,
      tables: [{ table: '/v1/flags/beta', updated: 1 }],
      base: { method: 'PATCH', url: `${api.url}/flags/beta`, etag: expect.stringMatching(/^"/) },
    });
    expect(JSON.stringify(record)).not.toContain('"ada"');
    expect(api.requests.map(({ method }) => method)).toEqual(['GET']);
    expect(api.requests[0]?.headers.authorization).toBe('Bearer secret');
    expect(stagingSha(recordOf(await stage(change())))).toBe(stagingSha(record));
  });

  it.each(['weak', 'none'] as const)('reports that the base cannot be verified if the ETag is %s', async (etag) => {
    api.behaviour.etag = etag;
    const record = recordOf(await stage(change()));
    expect(record).toMatchObject({ fullyCaptured: false, base: { etag: null } });
    expect(record.uncaptured[0]).toContain('strong ETag');
  });

  it.each<[string, object, string]>([
    ['another host', { url: 'http://127.0.0.2:1/v1/flags/beta' }, 'not on'],
    ['another port', { url: 'http://127.0.0.1:1/v1/flags/beta' }, 'not on'],
    ['a path outside the base path', { url: 'ROOT/v2/flags' }, 'not below'],
    ['a dot segment', { url: 'BASE/../v2/flags' }, 'ambiguous'],
    ['a path that only has the base path as a string prefix', { url: 'BASEx/flags' }, 'not below'],
    ['an encoded slash', { url: 'BASE/flags%2f..%2fusers' }, 'ambiguous'],
    ['a user name', { url: 'USER/flags' }, 'ambiguous'],
    ['a query parameter that is not allowed', { url: 'BASE/flags/beta?as=admin' }, 'query'],
    ['a staged credential', { headers: { authorization: 'Bearer other' } }, 'header authorization'],
    ['a precondition without an ETag', { headers: { 'If-Match': '*' } }, 'If-Match'],
    ['another precondition', { headers: { 'if-none-match': '*' } }, 'header if-none-match'],
    ['a method that cannot be staged', { method: 'POST' }, 'POST'],
    ['a patch that does not apply', { body: [{ op: 'remove', path: '/nothing' }] }, 'does not apply'],
  ])('rejects %s, and sends no write request', async (_, staged, why) => {
    const url = (staged as { url?: string }).url
      ?.replace('BASE', api.url)
      .replace('ROOT', new URL(api.url).origin)
      .replace('USER', api.url.replace('//', '//x@'));
    expect(await stage(change({ staged: { ...staged, ...(url === undefined ? {} : { url }) } }))).toEqual({
      kind: 'rejected',
      explanation: expect.stringContaining(why),
    });
    expect(writes()).toEqual([]);
  });

  it('is stale if the If-Match of the request is of another state of the resource, and says its ETag', async () => {
    const etag = String(recordOf(await stage(change())).base['etag']);
    expect(await stage(change({ staged: { headers: { 'If-Match': '"7"' } } }))).toEqual({
      kind: 'rejected',
      stale: true,
      explanation: expect.stringContaining(etag),
    });
    expect(writes()).toEqual([]);
  });

  it('is stale if the "document" of the request is not the state of the resource, because the rules compare the body with it', async () => {
    const put = { method: 'PUT', contentType: 'application/json', body: { on: true } };
    const staged = (document: unknown): StageContext => change({ staged: { ...put, document } });
    expect(await stage(staged({ on: false }))).toMatchObject({
      kind: 'rejected',
      stale: true,
      explanation: expect.stringContaining('"document"'),
    });
    expect(recordOf(await stage(staged({ owners: ['ada'], on: false })))).toMatchObject({ fullyCaptured: true });
    const merge = { contentType: 'application/merge-patch+json', body: { on: true }, document: { on: false } };
    expect(await stage(change({ staged: merge }))).toMatchObject({ kind: 'rejected' });
    expect(await stage(change({ staged: merge, settings: { volatile: ['/owners'] } }))).toMatchObject({
      kind: 'staged',
    });
  });

  it('accepts If-Match with the ETag of the resource, and the commit sends it once', async () => {
    const etag = String(recordOf(await stage(change())).base['etag']);
    const staged = { headers: { 'If-Match': etag } };
    const ctx = await approved({ staged });
    expect(await commit(ctx)).toMatchObject({ kind: 'applied' });
    expect(writes().map(({ headers }) => headers['if-match'])).toEqual([etag]);
    api.documents.set('/v1/flags/beta', { on: false, owners: ['ada'] });
    api.behaviour.etag = 'weak';
    expect(await stage(change({ staged }))).toEqual({
      kind: 'rejected',
      explanation: expect.stringContaining('strong'),
    });
  });

  it.each([
    ['only a volatile member', [{ op: 'replace', path: '/owners', value: ['eve'] }]],
    ['nothing', [{ op: 'test', path: '/on', value: false }]],
  ])('rejects a request that changes %s, because its effect could not be recognized', async (_, body) => {
    expect(await stage(change({ settings: { volatile: ['/owners'] }, staged: { body } }))).toMatchObject({
      kind: 'rejected',
      explanation: expect.stringContaining('could not be told from the state before'),
    });
  });

  it('reports a write to a volatile member beside others, which is not compared', async () => {
    const settings = { volatile: ['/owners'] };
    const body = [
      { op: 'replace', path: '/owners', value: ['eve'] },
      { op: 'replace', path: '/on', value: true },
    ];
    const record = recordOf(await stage(change({ settings, staged: { body } })));
    expect(record).toMatchObject({ fullyCaptured: false, tables: [{ updated: 1 }] });
    expect(record.uncaptured[0]).toContain('not compared');
    expect(recordOf(await stage(change({ settings })))).toMatchObject({ fullyCaptured: true });
  });

  it('reports a copy of members that the request does not show', async () => {
    const document = { on: false, owners: ['ada'], templates: [{}, { role: 'admin' }], me: {} };
    api.documents.set('/v1/flags/beta', document);
    const uncaptured = async (op: object, more = {}): Promise<readonly string[]> => {
      const body = [{ op: 'remove', path: '/templates/0' }, op];
      return recordOf(await stage(change({ staged: { body, ...more } }))).uncaptured;
    };
    const copy = { op: 'copy', from: '/templates/0', path: '/me' };
    expect(await uncaptured(copy)).toEqual([expect.stringContaining('"document"')]);
    expect(await uncaptured(copy, { document })).toEqual([]);
    expect(await uncaptured({ op: 'move', from: '/owners', path: '/former' })).toEqual([]);
  });

  it.each([
    ['redirects', 'redirect'],
    ['not_json', 'not JSON'],
    [404, 'status 404'],
  ] as const)('rejects a resource that responds with %s', async (read, why) => {
    api.behaviour.read = read;
    expect(await stage(change())).toMatchObject({ kind: 'rejected', explanation: expect.stringContaining(why) });
    expect(api.requests).toHaveLength(1);
  });

  it.each(['drips', 'huge', 'drops', 503] as const)('is retryable if the resource responds with %s', async (read) => {
    api.behaviour.read = read;
    await expect(stage(change())).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE' });
  });
});

describe('a commit', () => {
  it('sends the patch once, with the approved ETag and with the change id as idempotency key [T65]', async () => {
    const ctx = await approved();
    const result = await commit(ctx);
    expect(result).toMatchObject({
      kind: 'applied',
      replayed: false,
      effect: { stagingSha: stagingSha(ctx.approved) },
    });
    expect(now()).toEqual({ on: true, owners: ['ada'] });
    expect(writes().map(({ headers }) => [headers['if-match'], headers['idempotency-key']])).toEqual([
      [ctx.approved.base['etag'], ctx.changeId],
    ]);
    expect(JSON.stringify(result)).not.toContain('secret');
    expect(await commit(ctx)).toMatchObject({ kind: 'applied', replayed: true });
    expect(await seal(toSettle(ctx))).toMatchObject({ found: true, unchecked: true });
    expect(api.applied).toHaveLength(1);
  });

  it('sends nothing if the change has ended, and is then sealed without reading the resource', async () => {
    const ctx = await approved();
    expect(await commit({ ...ctx, endedMeanwhile: async () => 'an operator ended it' })).toMatchObject({
      kind: 'refused',
      explanation: 'an operator ended it',
    });
    expect(writes()).toEqual([]);
    api.behaviour.read = 503;
    expect(await seal(toSettle(ctx))).toEqual({ found: false });
  });

  it('also sends a merge patch and a whole document', async () => {
    const merge = await approved({ staged: { contentType: 'application/merge-patch+json', body: { owners: null } } });
    expect(await commit(merge)).toMatchObject({ kind: 'applied' });
    expect(now()).toEqual({ on: false });
    const put = await approved({ staged: { method: 'PUT', contentType: 'application/json', body: { on: true } } });
    expect(await commit(put)).toMatchObject({ kind: 'applied' });
    expect(now()).toEqual({ on: true });
  });

  it.each(['applies_then_drops', 'applies_then_500', 'applies_then_hangs'] as const)(
    'finds its effect by reading back if the server %s, and sends the request once [T65]',
    async (write) => {
      const ctx = await approved();
      api.behaviour.write = write;
      expect(await retried(ctx)).toMatchObject({ kind: 'applied' });
      expect(api.applied).toHaveLength(1);
      expect(writes()).toHaveLength(1);
    },
  );

  it('sends the request again if the connection dropped, only if the server replays responses, and it is applied once', async () => {
    const ctx = await approved({ http: { replaysIdempotent: true } });
    api.behaviour.replays = true;
    api.behaviour.write = 'drops';
    await expect(commit(ctx)).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE' });
    api.behaviour.write = 'proper';
    expect(await retried(ctx)).toMatchObject({ kind: 'applied' });
    expect(api.applied).toHaveLength(1);
  });

  it('is sealed if the connection dropped before the request was applied, and the server does not replay responses', async () => {
    const ctx = await approved({ settings: { timeoutMs: 1_000 } });
    api.behaviour.write = 'drops';
    expect(await commit(ctx)).toMatchObject({ kind: 'unknown', explanation: expect.stringContaining('state before') });
    api.behaviour.write = 'proper';
    expect(await commit(ctx)).toMatchObject({ kind: 'unknown' });
    expect(await seal(toSettle(ctx))).toEqual({ found: false });
    expect(writes()).toHaveLength(1);
  });

  it('sends nothing if the resource has changed, and is sealed immediately [T61]', async () => {
    const ctx = await approved();
    api.documents.set('/v1/flags/beta', { on: false, owners: ['eve'] });
    expect(await commit(ctx)).toMatchObject({ kind: 'stale' });
    expect(writes()).toEqual([]);
    expect(await seal(toSettle(ctx))).toEqual({ found: false });
    api.documents.set('/v1/flags/beta', { on: false, owners: ['ada'] });
    expect(await commit(ctx)).toEqual({ kind: 'sealed' });
    expect(writes()).toEqual([]);
  });

  it('is stale if the server responds with 412, also in the next attempt and for the seal [T61]', async () => {
    const ctx = await approved();
    api.behaviour.beforeWrite = () => void api.documents.set('/v1/flags/beta', { on: false, owners: ['eve'] });
    expect(await commit(ctx)).toMatchObject({ kind: 'stale', explanation: expect.stringContaining('status 412') });
    expect(await commit(ctx)).toMatchObject({ kind: 'stale' });
    expect(await seal(toSettle(ctx))).toEqual({ found: false });
    expect(writes()).toHaveLength(1);
    expect(api.applied).toHaveLength(0);
  });

  it.each([
    ['stale', 404],
    ['stale', 410],
    ['unknown', 403],
  ])('is %s after a 412 if the status of the resource is %i then', async (kind, status) => {
    const ctx = await approved();
    api.behaviour.write = 412;
    api.behaviour.beforeWrite = () => void (api.behaviour.read = status);
    expect(await commit(ctx)).toMatchObject({ kind });
  });

  it('is also stale after a 412 if reads of the resource fail for a short time', async () => {
    const ctx = await approved();
    api.behaviour.beforeWrite = () => {
      api.documents.set('/v1/flags/beta', { on: false, owners: ['eve'] });
      api.behaviour.read = 503;
    };
    const read = api.requests.length;
    const result = commit(ctx);
    await eventually('a failed read', () => api.requests.length >= read + 3);
    api.behaviour.read = 'proper';
    expect(await result).toMatchObject({ kind: 'stale' });
  });

  it('has an unknown outcome after a 412 if no read of the resource succeeds, since a proxy may have repeated the request', async () => {
    const ctx = await approved({ settings: { timeoutMs: 1_000 } });
    api.behaviour.beforeWrite = () => {
      api.documents.set('/v1/flags/beta', { on: false, owners: ['eve'] });
      api.behaviour.read = 503;
    };
    await expect(commit(ctx)).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE' });
    api.behaviour.read = 'proper';
    expect(await commit(ctx)).toMatchObject({ kind: 'unknown' });
  });

  it('does not treat a 412 as a rejection if the same request was applied just before, by a proxy that repeats it', async () => {
    const ctx = await approved();
    api.behaviour.beforeWrite = () => void api.documents.set('/v1/flags/beta', { on: true, owners: ['ada'] });
    expect(await commit(ctx)).toMatchObject({ kind: 'applied' });
    expect(api.applied).toHaveLength(0);
  });

  it('reports an unknown outcome if the response was lost and the resource has changed since', async () => {
    const ctx = await approved();
    api.behaviour.write = 'applies_then_drops';
    api.behaviour.afterWrite = () => void api.documents.set('/v1/flags/beta', { on: false, owners: ['eve'] });
    expect(await commit(ctx)).toMatchObject({ kind: 'unknown' });
    expect(await commit(ctx)).toMatchObject({ kind: 'unknown' });
    expect(await seal(toSettle(ctx))).toMatchObject({ found: 'unknown' });
  });

  it('learns the outcome by its idempotency key if the server replays responses', async () => {
    const ctx = await approved({ http: { replaysIdempotent: true } });
    api.behaviour.replays = true;
    await ctx.sends.begin({ resend: false });
    // Applied by an attempt that crashed, then changed by another client.
    const url = `${api.url}/flags/beta`;
    await fetch(url, {
      method: 'PATCH',
      headers: {
        'content-type': 'application/json-patch+json',
        'if-match': String(ctx.approved.base['etag']),
        'idempotency-key': ctx.changeId,
      },
      body: JSON.stringify([{ op: 'replace', path: '/on', value: true }]),
    });
    api.documents.set('/v1/flags/beta', { on: true, owners: ['eve'] });
    expect(await commit(ctx)).toMatchObject({
      kind: 'applied',
      replayed: true,
      shouldBeReverted: expect.stringContaining('not in the approved state'),
    });
    expect(api.applied).toHaveLength(1);
  });

  it('never sends a second request if there is no strong ETag', async () => {
    api.behaviour.etag = 'weak';
    const ctx = await approved();
    api.behaviour.write = 'drops';
    expect(await commit(ctx)).toMatchObject({ kind: 'unknown' });
    api.behaviour.write = 'proper';
    expect(await commit(ctx)).toMatchObject({ kind: 'unknown' });
    expect(writes()).toHaveLength(1);
    expect(writes()[0]?.headers['if-match']).toBeUndefined();
    expect(await seal(toSettle(ctx))).toEqual({ found: false });
  });

  it('reports an unapproved state if a server that ignores If-Match applied the patch to another state', async () => {
    const ctx = await approved();
    api.behaviour.ignoresIfMatch = true;
    api.behaviour.beforeWrite = () => void api.documents.set('/v1/flags/beta', { on: false, owners: ['eve'] });
    expect(await commit(ctx)).toMatchObject({
      kind: 'applied',
      shouldBeReverted: expect.stringContaining('not in the approved state'),
    });
  });

  it('is stale if the content has changed but the server never changes the ETag', async () => {
    api.behaviour.etag = 'constant';
    const ctx = await approved();
    api.documents.set('/v1/flags/beta', { on: false, owners: ['eve'] });
    expect(await commit(ctx)).toMatchObject({ kind: 'stale' });
    expect(writes()).toEqual([]);
  });

  it.each([302, 400, 401, 409])(
    'applies nothing on status %s, and is sealed after waiting and reading the resource again',
    async (status) => {
      const ctx = await approved({ settings: { timeoutMs: 1_000 } });
      api.behaviour.write = status;
      expect(await commit(ctx)).toMatchObject({ kind: 'refused', explanation: `PATCH: status ${status}` });
      expect(await seal(toSettle(ctx))).toEqual({ found: false });
      expect(writes()).toHaveLength(1);
    },
  );

  it.each([200, 204])(
    'is not reported as applied on status %s if the resource is in the state before',
    async (status) => {
      const ctx = await approved({ settings: { timeoutMs: 1_000 } });
      api.behaviour.write = status;
      expect(await commit(ctx)).toMatchObject({
        kind: 'unknown',
        explanation: expect.stringContaining('state before'),
      });
      expect(await seal(toSettle(ctx))).toEqual({ found: false });
    },
  );

  it('reads the resource past caches, which may have the state before', async () => {
    await commit(await approved());
    const reads = api.requests.filter(({ method }) => method === 'GET');
    expect(reads.map(({ headers }) => headers['cache-control'])).toEqual(reads.map(() => 'no-cache'));
  });

  it('does not compare members that the settings mark as volatile', async () => {
    api.documents.set('/v1/flags/beta', { on: false, rev: 1 });
    const ctx = await approved({ settings: { volatile: ['/rev'] } });
    api.behaviour.write = 'applies_then_500';
    api.behaviour.afterWrite = () => void api.documents.set('/v1/flags/beta', { on: true, rev: 2 });
    expect(await retried(ctx)).toMatchObject({ kind: 'applied' });
  });
});

describe('volatile items of an array', () => {
  const settings = { volatile: ['/log/0', '/log/1'] };
  const isStale = async (log: readonly string[]): Promise<boolean> => {
    api.behaviour.etag = 'constant';
    api.documents.set('/v1/flags/beta', { on: false, log: ['a', 'b', 'c'] });
    const ctx = await approved({ settings });
    api.documents.set('/v1/flags/beta', { on: false, log: [...log] });
    return (await commit(ctx)).kind === 'stale';
  };

  it('are not compared, and all others are', async () => {
    expect(await isStale(['x', 'y', 'c'])).toBe(false);
    expect(await isStale(['a', 'b', 'x'])).toBe(true);
  });
});

describe('a post validator that rejects', () => {
  const postCheck = async () => ({ ok: false, explanation: 'guardian.x: no' }) as const;

  it('restores the previous state if the target allows undo', async () => {
    const ctx = await approved({ http: { undo: 'put' } }, { postCheck });
    expect(await commit(ctx)).toMatchObject({ kind: 'compensated', explanation: 'guardian.x: no' });
    expect(now()).toEqual({ on: false, owners: ['ada'] });
    expect(api.applied).toHaveLength(2);
  });

  it('keeps the effect if there was another write since', async () => {
    const ctx = await approved(
      { http: { undo: 'put' } },
      {
        postCheck: async () => {
          api.documents.set('/v1/flags/beta', { on: true, owners: ['eve'] });
          return postCheck();
        },
      },
    );
    expect(await commit(ctx)).toMatchObject({
      kind: 'applied',
      shouldBeReverted: expect.stringContaining('status 412'),
    });
    expect(now()).toEqual({ on: true, owners: ['eve'] });
  });

  it('keeps the effect if the target does not allow undo', async () => {
    expect(await commit(await approved({}, { postCheck }))).toMatchObject({
      kind: 'applied',
      shouldBeReverted: expect.stringContaining('configuration'),
    });
    expect(now()).toEqual({ on: true, owners: ['ada'] });
  });
});
