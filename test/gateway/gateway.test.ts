import { WorkflowNotFoundError } from '@temporalio/common';
import { recordRefusedWithdrawal } from '../../activities/review/admit-withdrawal';
import type { ClientLedger } from '../../client/ports';
import { ReviewClient } from '../../client/review-client';
import type { GatewayDeps } from '../../gateway/app';
import { GatewayClient, type GatewayClientOptions } from '../../client/gateway-client';
import { AnswerLimits } from '../../gateway/answer-limits';
import type { RefusedBeforeRelay } from '../../gateway/deps';
import { createGatewayMetrics, createMetricsApp } from '../../gateway/metrics';
import { Nonces } from '../../gateway/nonces';
import { noReview } from '../../gateway/review-tenant';
import { authorizationHeader, REQUEST_WINDOW_MS } from '../../client/request-claim';
import { CountersignError } from '../../client/errors';
import { neverOpened, notFound } from '../../client/review-errors';
import { createSigner, type Signer } from '../../client/signer';
import { signWithdrawal } from '../../client/sign-withdrawal';
import { prepareSubmission, signSubmission } from '../../client/submission';
import { signAnswers } from '../../client/sign-answers';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { MAX_DIFF_BYTES } from '../../policy/contracts/diff';
import { sha256Hex } from '../../policy/contracts/hash';
import type { RegisteredKey } from '../../policy/evidence/key-registry';
import { newKeyPair, type SigningKey } from '../../signing/keys';
import { parseEvidence, type EvidenceBundle } from '../../policy/evidence/bundle';
import { verifiedReview } from '../../signing/verified-review';
import { testKey, type TestKey } from '../support/keys';
import { evidenceWorld } from '../support/review/evidence-world';
import { accepted, CHANGE, failing, hex, outcome, reviewed, status } from '../client/fakes';
import { fakeTemporal } from '../client/fake-temporal';
import { fakeGateway, recordingRefused } from './fake-gateway';
import { scope } from './inbox/world';

const agent = newKeyPair();
const alice = newKeyPair();
const stranger = newKeyPair();
const mallory = newKeyPair();
const now = new Date();

function entry(key: SigningKey, overrides: Partial<TestKey['entry']> = {}): TestKey['entry'] {
  const of = { onBehalfOf: 'carol', tenants: ['acme'], rights: ['submit' as const, 'read' as const] };
  return testKey('service', '', { subject: { type: 'agent', id: 'shopbot' }, ...of, ...overrides }, key).entry;
}

const keys = new Map<string, RegisteredKey>(
  [
    entry(agent),
    testKey('approver', 'alice', { tenants: ['acme'], rights: ['read', 'answer'] }, alice).entry,
    entry(mallory, {
      subject: { type: 'agent', id: 'other-bot' },
      tenants: ['evil'],
      rights: ['submit', 'read', 'answer'],
    }),
  ].map((each) => [each.keyId, each]),
);

function gateway(given: Partial<GatewayDeps['reviews']> = {}, overrides: Partial<GatewayDeps> = {}) {
  const log: object[] = [];
  const stored = new Map<string, Uint8Array>();
  const recorded: RefusedBeforeRelay[] = [];
  const refusedWithdrawals: unknown[] = [];
  const app = fakeGateway({
    reviews: failing<GatewayDeps['reviews']>(given),
    store: {
      put: async (tenant, bytes) => {
        stored.set(`${tenant}/${sha256Hex(bytes)}`, bytes);
        return sha256Hex(bytes);
      },
      has: async (tenant, digest) => stored.has(`${tenant}/${digest}`),
    },
    keys: async () => ({ find: (keyId) => keys.get(keyId) }),
    answers: {
      scopeOf: async () => scope,
      withdrawalScopeOf: async () => ({
        changeId: CHANGE,
        submission: { ...submission, tenant: 'acme' },
        plan: null,
        other: null,
      }),
      recordRefusedWithdrawal: async (_id, message, { code, message: why }) => {
        refusedWithdrawals.push(message);
        return { code, message: why };
      },
      recordRefused: recordingRefused(recorded),
    },
    now: () => now.getTime(),
    log: { error: (facts) => void log.push(facts) },
    ...overrides,
  });
  return { app, log, stored, recorded, refusedWithdrawals };
}

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly body?: Uint8Array | string;
  /** The body of a POST. */
  readonly json?: unknown;
  readonly signer?: Signer;
  readonly authorization?: string | null;
  readonly signed?: Partial<Parameters<typeof authorizationHeader>[0]>;
  readonly at?: Date;
}

async function send(
  app: ReturnType<typeof fakeGateway>,
  { path, json, signer = createSigner(agent), authorization, signed = {}, at = now, ...sent }: Sent,
) {
  const { method = json === undefined ? 'GET' : 'POST', body = json === undefined ? '' : JSON.stringify(json) } = sent;
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const header =
    authorization === undefined
      ? authorizationHeader({ method, path, bodySha256: sha256Hex(bytes), ...signed }, signer, at)
      : authorization;
  const response = await app.request(`http://gateway${path}`, {
    method,
    headers: header === null ? {} : { authorization: header },
    ...(method === 'GET' ? {} : { body: bytes as Uint8Array<ArrayBuffer> }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: () => JSON.parse(text) as { error: { code: string; field?: string; message: string } },
  };
}

const bytes = new TextEncoder().encode('UPDATE t SET a = 1');
const prepared = prepareSubmission({ target: 'shop', sourceTool: 'SQLDryRun', raw: bytes }, 'acme');
const withdrawal = signWithdrawal(CHANGE, { reason: 'oops' }, createSigner(agent), now);
const submission = signSubmission(prepared, createSigner({ ...agent, onBehalfOf: 'carol' }), now);
const own = { tenantOf: async () => 'acme', bundle: async () => ({}) as EvidenceBundle };

describe('authentication', () => {
  it.each<[string, Partial<Sent>]>([
    ['no header', { authorization: null }],
    ['another scheme', { authorization: 'Bearer abc' }],
    ['something that is not an envelope', { authorization: 'Countersign e30=' }],
    ['invalid base64', { authorization: 'Countersign ***' }],
    ['a header that is too long', { authorization: `Countersign ${'A'.repeat(9000)}` }],
    ['a key that is not registered', { signer: createSigner(stranger) }],
    ['another method', { signed: { method: 'PUT' } }],
    ['another path', { signed: { path: '/v1/reviews/other' } }],
    ['another query', { signed: { path: `/v1/reviews/${CHANGE}?x=1` } }],
    ['another body', { signed: { bodySha256: hex('0') } }],
    ['a time too far in the past', { at: new Date(now.getTime() - REQUEST_WINDOW_MS - 1000) }],
    ['a time too far in the future', { at: new Date(now.getTime() + REQUEST_WINDOW_MS + 1000) }],
    [
      'the keyid of another key',
      {
        signer: {
          ...createSigner(stranger),
          keyId: agent.keyId,
          signText: (type, text) => ({
            ...createSigner(stranger).signText(type, text),
            signatures: [{ keyid: agent.keyId, sig: createSigner(stranger).signText(type, text).signatures[0]!.sig }],
          }),
        },
      },
    ],
    ['a claim that names another key', { signer: { ...createSigner(agent), keyId: alice.keyId } }],
    [
      'a claim signed under another payload type',
      {
        signer: {
          ...createSigner(agent),
          signText: (_type, text) => createSigner(agent).signText('application/json', text),
        },
      },
    ],
    [
      'a signature over another payload type',
      {
        signer: {
          ...createSigner(agent),
          signText: (type, text) => ({
            ...createSigner(agent).signText('application/vnd.in-toto+json', text),
            payloadType: type,
          }),
        },
      },
    ],
  ])('refuses %s before the request takes effect', async (_name, sent) => {
    const { app } = gateway();
    const answer = await send(app, { path: `/v1/reviews/${CHANGE}`, ...sent });
    expect(answer.status).toBe(401);
    expect(answer.json().error.code).toBe('unauthenticated');
  });

  it.each([
    ['a revoked key', { revokedAt: now.toISOString() }],
    ['a committer key', { kind: 'committer' as const }],
    ['an attestor key', { kind: 'attestor' as const }],
  ])('refuses %s', async (_name, overrides) => {
    const { app } = gateway({}, { keys: async () => ({ find: () => entry(agent, overrides) }) });
    expect((await send(app, { path: `/v1/reviews/${CHANGE}` })).status).toBe(401);
  });

  it.each<[string, Partial<Sent>, string]>([
    ['the request that was signed', { signed: { path: '/api/v1/reviews' } }, 'GET /api/v1/reviews'],
    ['the request that arrived', { signed: { path: '/api/v1/reviews' } }, `GET /v1/reviews/${CHANGE}`],
    ['the member of a claim that is invalid', { signed: { bodySha256: 'abc' } }, 'bodySha256: expected 64 lower-case'],
  ])('names %s', async (_name, sent, named) => {
    const { app } = gateway();
    const answer = await send(app, { path: `/v1/reviews/${CHANGE}`, ...sent });
    expect(answer.json().error.message).toContain(named);
  });

  it.each([
    ['GET', '/v1/reviews/abc', 400, 'id'],
    ['GET', '/v1/reviews/abc/result', 400, 'id'],
    ['PUT', '/v1/diffs/ABC', 400, 'sha256'],
    ['GET', '/v2/reviews', 404, '/v2/reviews'],
  ])('names what is wrong with the path of %s %s', async (method, path, status, named) => {
    const { app } = gateway();
    const answer = await send(app, { method, path });
    expect(answer.status).toBe(status);
    expect(answer.json().error.message).toContain(named);
    expect(answer.json().error.field).toBe(status === 400 ? named : undefined);
  });

  it('accepts a signed request once', async () => {
    const { app } = gateway(own);
    const path = `/v1/reviews/${CHANGE}`;
    const authorization = authorizationHeader(
      { method: 'GET', path, bodySha256: sha256Hex(new Uint8Array(0)) },
      createSigner(agent),
      now,
    );
    expect((await send(app, { path, authorization })).status).toBe(200);
    const again = await send(app, { path, authorization });
    expect(again.status).toBe(401);
    expect(again.json().error.message).toContain('sent before');
  });

  it('refuses new requests instead of dropping an unexpired nonce', async () => {
    const { app } = gateway(own, { nonces: new Nonces({ perKey: 1, total: 10 }) });
    const path = `/v1/reviews/${CHANGE}`;
    expect((await send(app, { path })).status).toBe(200);
    expect((await send(app, { path })).status).toBe(429);
    expect((await send(app, { path, signer: createSigner(alice) })).status).toBe(200);
  });

  it('does not store nonces of unknown senders', async () => {
    const nonces = new Nonces({ perKey: 10, total: 10 });
    const { app } = gateway({}, { nonces });
    await send(app, { path: '/v1/reviews', signer: createSigner(stranger) });
    expect(nonces.size).toBe(0);
  });
});

describe('nonces', () => {
  it('are dropped when their requests have expired', () => {
    const nonces = new Nonces({ perKey: 2, total: 3 });
    expect(nonces.spend('a', '1', 100, 0)).toBe('spent');
    expect(nonces.spend('a', '1', 100, 50)).toBe('reused');
    expect(nonces.spend('a', '2', 100, 50)).toBe('spent');
    expect(nonces.spend('a', '3', 100, 50)).toBe('full');
    expect(nonces.spend('b', '1', 100, 50)).toBe('spent');
    expect(nonces.spend('c', '1', 100, 50)).toBe('full');
    expect(nonces.spend('c', '1', 300, 101)).toBe('spent');
    expect(nonces.size).toBe(1);
  });
});

describe('PUT /v1/diffs/:sha256', () => {
  const path = `/v1/diffs/${sha256Hex(bytes)}`;

  it('stores bytes whose digest is in the path, for the tenant of the key', async () => {
    const { app, stored } = gateway();
    expect((await send(app, { method: 'PUT', path, body: bytes })).status).toBe(201);
    expect([...stored.keys()]).toEqual([`acme/${sha256Hex(bytes)}`]);
  });

  it('refuses other bytes, an empty body, and a tenant of another key', async () => {
    const { app, stored } = gateway();
    const other = await send(app, { method: 'PUT', path, body: 'DROP TABLE t' });
    expect([other.status, other.json().error.field]).toEqual([400, 'sha256']);
    expect((await send(app, { method: 'PUT', path: `/v1/diffs/${sha256Hex(new Uint8Array(0))}` })).status).toBe(400);
    expect((await send(app, { method: 'PUT', path: `${path}?tenant=evil`, body: bytes })).status).toBe(403);
    expect(stored.size).toBe(0);
  });

  it('stops reading after the limit, regardless of Content-Length', async () => {
    const { app } = gateway();
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(64 * 1024));
      },
    });
    const authorization = authorizationHeader({ method: 'PUT', path, bodySha256: hex('0') }, createSigner(agent), now);
    const response = await app.request(`http://gateway${path}`, {
      method: 'PUT',
      headers: { authorization },
      body: endless,
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(413);
    expect(pulled).toBeLessThan(MAX_DIFF_BYTES / (64 * 1024) + 5);
  });
});

describe('POST /v1/reviews', () => {
  const post = (app: ReturnType<typeof fakeGateway>, json: unknown) => send(app, { path: '/v1/reviews', json });

  it('starts the review if the bytes are stored and the sender signed the submission', async () => {
    const started: unknown[] = [];
    const start: GatewayDeps['reviews']['start'] = async (s, options) => {
      started.push([s, options]);
      return { changeId: prepared.changeId, preflight: 'pending', outcome: null };
    };
    const { app, stored } = gateway({ start }, { titleOf: async ({ diffSha }) => `title of ${diffSha.slice(0, 8)}` });
    const missing = await post(app, submission);
    expect([missing.status, missing.json().error.code]).toEqual([409, 'diff_missing']);
    stored.set(`acme/${prepared.submission.diffSha}`, bytes);
    expect((await post(app, submission)).status).toBe(202);
    const title = `title of ${prepared.submission.diffSha.slice(0, 8)}`;
    expect(started).toEqual([[submission, expect.objectContaining({ title })]]);
  });

  it.each<[string, object, number, string]>([
    ['an unsigned submission', { envelope: undefined }, 422, 'envelope'],
    ['one signed for other metadata', { metadata: { affected_rows: 1 } }, 422, 'envelope'],
    [
      'one signed by another key',
      { envelope: signSubmission(prepared, createSigner(mallory), now).envelope },
      422,
      'envelope',
    ],
    ['one for a tenant of another key', { tenant: 'evil' }, 403, 'tenant'],
    ['one that signals a workflow', { replyTo: { workflowId: 'someone-elses' } }, 400, 'replyTo'],
    ['an unknown member', { plan: {} }, 400, 'plan'],
    ['metadata of the wrong type', { metadata: 'x' }, 400, 'metadata'],
  ])('refuses %s, naming the field', async (_name, bad, httpStatus, field) => {
    const { app, stored } = gateway();
    stored.set(`acme/${prepared.submission.diffSha}`, bytes);
    const answer = await post(app, { ...submission, ...bad });
    expect([answer.status, answer.json().error.field]).toEqual([httpStatus, field]);
  });

  it('refuses to supersede a review of another tenant as one that does not exist', async () => {
    const sent = { ...submission, supersedes: hex('5') };
    const answers = await Promise.all(
      [async () => 'evil', async () => Promise.reject(notFound(hex('5'), undefined))].map(async (tenantOf) => {
        const { app, stored } = gateway({ tenantOf });
        stored.set(`acme/${prepared.submission.diffSha}`, bytes);
        const signed = signSubmission({ ...prepared, submission: sent }, createSigner(agent), now);
        return post(app, signed);
      }),
    );
    for (const { status: httpStatus, text } of answers)
      expect([httpStatus, text]).toEqual([404, expect.stringContaining(`supersedes: no review ${hex('5')}`)]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
  });

  it('refuses invalid JSON', async () => {
    const { app } = gateway();
    expect((await send(app, { method: 'POST', path: '/v1/reviews', body: '{"a":' })).json().error.field).toBe('body');
  });
});

describe('a review', () => {
  it('of another tenant is not found, for every method, as one that does not exist or was never opened', async () => {
    const { app } = gateway(own);
    const unknown = [notFound(CHANGE, undefined), neverOpened(CHANGE)].map(
      (missing) => gateway({ tenantOf: async () => Promise.reject(missing) }).app,
    );
    const signer = createSigner(mallory);
    const answers = { answers: [submission.envelope] };
    for (const sent of [
      { path: `/v1/reviews/${CHANGE}` },
      { path: `/v1/reviews/${CHANGE}/result` },
      { path: `/v1/reviews/${CHANGE}/answers`, json: answers },
      { path: `/v1/reviews/${CHANGE}/withdraw`, json: withdrawal },
    ]) {
      const answer = await send(app, { ...sent, signer });
      expect([answer.status, answer.json().error]).toEqual([404, { code: 'not_found', message: noReview(CHANGE) }]);
      for (const other of unknown) expect((await send(other, { ...sent, signer })).text).toBe(answer.text);
    }
    expect((await send(app, { path: '/v1/reviews?tenant=acme', signer })).status).toBe(403);
  });

  it('waits for its result as long as requested, at most a minute', async () => {
    const waits: (number | undefined)[] = [];
    const { app } = gateway({
      ...own,
      result: async (_id, bounds) => (waits.push(bounds?.timeoutMs), { state: 'PENDING', status: status() }),
    });
    expect((await send(app, { path: `/v1/reviews/${CHANGE}/result?waitMs=60000` })).status).toBe(200);
    expect((await send(app, { path: `/v1/reviews/${CHANGE}/result?waitMs=60001` })).status).toBe(400);
    expect((await send(app, { path: `/v1/reviews/${CHANGE}/result?waitMs=-1` })).status).toBe(400);
    expect(waits).toEqual([60000]);
  });

  describe('that no review worker has opened yet', () => {
    const notOpened = new CountersignError('worker_unavailable', 'not opened');
    const ended = { state: 'ABORTED', verified: false, why: 'the secret of acme' } as const;
    /** A gateway whose review is opened, or gets the error of the last entry, while its result is waited for. */
    const opening = (...found: (string | CountersignError)[]) =>
      gateway({
        tenantOf: async () => {
          const next = found.length > 1 ? found.shift() : found[0];
          if (typeof next === 'string') return next;
          throw next;
        },
        result: async (_id, bounds) => (bounds?.timeoutMs === 5000 ? ended : { state: 'PENDING', status: null }),
      });

    it('is waited for, and then has its result', async () => {
      const { app } = opening(notOpened, 'acme');
      const answer = await send(app, { path: `/v1/reviews/${CHANGE}/result?waitMs=5000` });
      expect([answer.status, answer.json()]).toEqual([200, ended]);
    });

    it('is PENDING if it is not opened in time either', async () => {
      const { app } = opening(notOpened);
      const answer = await send(app, { path: `/v1/reviews/${CHANGE}/result?waitMs=5000` });
      expect([answer.status, answer.json()]).toEqual([200, { state: 'PENDING', status: null }]);
    });

    it('gives its result to no other tenant', async () => {
      const { app } = opening(notOpened, 'acme');
      const answer = await send(app, {
        path: `/v1/reviews/${CHANGE}/result?waitMs=5000`,
        signer: createSigner(mallory),
      });
      expect([answer.status, answer.json().error.message]).toEqual([404, noReview(CHANGE)]);
    });

    it('is not found if its workflow ended before', async () => {
      const { app } = opening(notOpened, new CountersignError('not_found', 'never opened'));
      const answer = await send(app, { path: `/v1/reviews/${CHANGE}/result?waitMs=5000` });
      expect([answer.status, answer.text.includes('secret')]).toEqual([404, false]);
    });
  });

  it('does not wait any longer for its result when the process stops', async () => {
    const stopping = new AbortController();
    const result: GatewayDeps['reviews']['result'] = async (_id, { signal } = {}) => {
      await new Promise<void>((resolve) => {
        signal?.addEventListener('abort', () => resolve());
        stopping.abort();
      });
      return { state: 'PENDING', status: null };
    };
    const { app } = gateway({ ...own, result }, { stopping: stopping.signal });
    const answer = await send(app, { path: `/v1/reviews/${CHANGE}/result?waitMs=60000` });
    expect(answer.json()).toEqual({ state: 'PENDING', status: null });
  });

  it('relays signed answers only', async () => {
    const relayed: unknown[] = [];
    const { app } = gateway({ ...own, answer: async (_id, answers) => (relayed.push(...answers), accepted()) });
    const path = `/v1/reviews/${CHANGE}/answers`;
    const signed = signAnswers(
      CHANGE,
      reviewed(),
      { violationIds: [hex('a')], decision: 'confirm', reason: '' },
      createSigner(alice),
      { issuedAt: now, expiresAt: new Date(now.getTime() + 60_000) },
    );
    const unsigned = [
      { violationId: hex('a'), fingerprint: hex('f'), decision: 'confirm', reason: '', actor: 'alice' },
    ];
    const post = (answers: readonly unknown[]) => send(app, { path, json: { answers }, signer: createSigner(alice) });
    for (const answers of [unsigned, [true], [], [...signed, ...unsigned]])
      expect((await post(answers)).status).toBe(400);
    expect(relayed).toEqual([]);
    const answer = await post(signed);
    expect([answer.status, answer.json()]).toEqual([200, accepted()]);
    expect(relayed).toEqual(signed);
  });

  it('is withdrawn only by a signed statement, which is relayed as it is', async () => {
    const relayed: unknown[] = [];
    const { app } = gateway({
      ...own,
      sendWithdrawal: async (_id, message) => (relayed.push(message), { code: 'accepted', message: '' }),
    });
    const path = `/v1/reviews/${CHANGE}/withdraw`;
    for (const json of [{ actor: 'alice', reason: 'oops' }, { reason: 'oops' }, {}])
      expect((await send(app, { path, json })).status).toBe(400);
    expect((await send(app, { path, json: withdrawal })).status).toBe(200);
    expect(relayed).toEqual([withdrawal]);
  });

  it('is not withdrawn by a person who is not an approver of its plan: the refusal is recorded, and nothing is relayed', async () => {
    const { app, refusedWithdrawals } = gateway(own);
    const message = signWithdrawal(CHANGE, {}, createSigner(alice), now);
    const path = `/v1/reviews/${CHANGE}/withdraw`;
    const sent = await send(app, { path, json: message, signer: createSigner(alice) });
    expect([sent.status, sent.json()]).toMatchObject([200, { code: 'not_eligible' }]);
    expect(refusedWithdrawals).toEqual([message]);
  });
});

describe('rows of the target', () => {
  it('are in the evidence only for a key that may answer', async () => {
    const world = evidenceWorld({ checkpoint: false });
    const { changeId } = await world.review({ table: 'public.prices', open: true });
    const evidence = await world.export(changeId);
    const read = async (rights: RegisteredKey['rights']) => {
      const keys = async () => ({ find: () => entry(agent, { rights }) });
      const { app } = gateway({ ...own, bundle: async () => evidence }, { keys });
      return parseEvidence((await send(app, { path: `/v1/reviews/${changeId}` })).text);
    };
    expect(await read(['read', 'answer'])).toEqual({ ok: true, bundle: evidence });
    const without = await read(['submit', 'read']);
    expect(without).toMatchObject({ ok: true, bundle: { changeId, preview: null } });
    expect(without.ok && verifiedReview(without.bundle, world.trust, evidence.rows.at(-1)!.row.at).ok).toBe(true);
  });
});

describe('the rights of a key', () => {
  const withRights = (rights: RegisteredKey['rights'], tenants = ['acme']) => ({
    keys: async () => ({ find: () => entry(agent, { rights, tenants }) }),
  });

  it.each<[string, Sent]>([
    ['submit', { method: 'PUT', path: `/v1/diffs/${sha256Hex(bytes)}`, body: bytes }],
    ['submit', { path: '/v1/reviews', json: {} }],
    ['read', { path: `/v1/reviews/${CHANGE}` }],
    ['read', { path: `/v1/reviews/${CHANGE}/result` }],
    ['read', { path: '/v1/reviews' }],
    ['answer', { path: `/v1/reviews/${CHANGE}/answers`, json: {} }],
    ['submit" or "answer', { path: `/v1/reviews/${CHANGE}/withdraw`, json: {} }],
  ])('must include "%s" for its requests, before the body is read', async (right, sent) => {
    const wanted = right.split('" or "');
    const others = (['submit', 'read', 'answer', 'operate'] as const).filter((other) => !wanted.includes(other));
    for (const rights of [others, []]) {
      const answer = await send(gateway(own, withRights([...rights])).app, sent);
      expect([answer.status, answer.json().error.message]).toEqual([
        403,
        `Key ${agent.keyId} lacks the right "${right}"`,
      ]);
    }
  });

  it('count only in its tenants; without tenants it can do nothing', async () => {
    for (const tenants of [[], ['other']]) {
      const answer = await send(gateway(own, withRights(['read'], tenants)).app, { path: `/v1/reviews/${CHANGE}` });
      expect(answer.status).toBe(404);
    }
    const path = `/v1/reviews/${CHANGE}`;
    expect((await send(gateway(own, withRights(['read'], ['*'])).app, { path })).status).toBe(200);
    const list = await send(gateway(own, withRights(['read'], ['*'])).app, { path: '/v1/reviews' });
    expect([list.status, list.json().error.field]).toEqual([400, 'tenant']);
  });
});

describe('answers', () => {
  const path = `/v1/reviews/${CHANGE}/answers`;
  const expiresAt = new Date(now.getTime() + 60_000);
  const signedBy = (key: SigningKey, violationId = hex('a')) =>
    signAnswers(
      CHANGE,
      reviewed(status({ violations: [{ ...status().violations[0]!, violationId }] })),
      { violationIds: [violationId], decision: 'confirm', reason: '' },
      createSigner(key),
      { issuedAt: now, expiresAt },
    );
  const post = (app: ReturnType<typeof fakeGateway>, answers: readonly unknown[]) =>
    send(app, { path, json: { answers }, signer: createSigner(alice) });

  it('are verified before they are relayed; those that would not count are refused and recorded', async () => {
    const relayed: unknown[] = [];
    const owners: unknown[] = [];
    const { app, recorded } = gateway({
      ...own,
      answer: async (_id, answers, options) => (relayed.push(...answers), owners.push(options?.owners), accepted()),
    });
    const [valid] = signedBy(alice);
    const forged = { ...valid!, signatures: [{ ...valid!.signatures[0]!, sig: 'A'.repeat(86) + '==' }] };
    const junk = [forged, ...signedBy(stranger), ...signedBy(alice, hex('b'))];
    expect((await post(app, junk)).status).toBe(200);
    expect(relayed).toEqual([]);
    expect(recorded.map(({ code }) => code)).toEqual(['bad_signature', 'unknown_key', 'unknown_violation']);
    expect((await post(app, [forged, valid])).json()).toEqual(accepted());
    expect(relayed).toEqual([valid]);
    expect(owners).toEqual([new Map([[alice.keyId, 'alice']])]);
  });

  it('are limited by key, and another key is not affected', async () => {
    const answerLimits = new AnswerLimits({ sent: 3, refused: 2 });
    const { app, recorded } = gateway({ ...own, answer: async () => accepted() }, { answerLimits });
    expect((await post(app, [...signedBy(stranger), ...signedBy(stranger)])).status).toBe(200);
    expect((await post(app, signedBy(alice))).status).toBe(429);
    expect(recorded).toHaveLength(2);
    expect(answerLimits.take(stranger.keyId, 3, now.getTime())).toBe(true);
    expect(answerLimits.take(stranger.keyId, 1, now.getTime())).toBe(false);
    expect(answerLimits.take(alice.keyId, 1, now.getTime() + 5 * 60_000)).toBe(true);
  });

  it('that are invalid are limited also if they are sent at the same time', async () => {
    const { app, recorded } = gateway(own, { answerLimits: new AnswerLimits({ sent: 100, refused: 2 }) });
    const sent = await Promise.all(Array.from({ length: 5 }, () => post(app, signedBy(stranger))));
    expect(sent.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429, 429]);
    expect(recorded).toHaveLength(2);
  });
});

describe('every response', () => {
  it('has security headers and is not cached, errors included', async () => {
    const { app } = gateway(own);
    for (const sent of [
      { path: '/healthz', authorization: null },
      { path: '/nothing', authorization: null },
      { path: `/v1/reviews/${CHANGE}` },
    ]) {
      const { headers } = await send(app, sent);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    }
  });

  it('reveals only the code of an internal failure, and logs it', async () => {
    for (const [thrown, httpStatus, code] of [
      [new Error('password=hunter2 at /srv/db.ts:1'), 500, 'internal'],
      [new CountersignError('ledger_unavailable', 'connect ECONNREFUSED 10.0.0.7:5432'), 503, 'ledger_unavailable'],
      [new CountersignError('temporal_unavailable', 'connect ECONNREFUSED 10.0.0.7:7233'), 503, 'temporal_unavailable'],
      [new CountersignError('worker_unavailable', 'no poller at 10.0.0.7'), 503, 'worker_unavailable'],
    ] as const) {
      const { app, log } = gateway({ tenantOf: () => Promise.reject(thrown) });
      const answer = await send(app, { path: `/v1/reviews/${CHANGE}` });
      expect(answer.status).toBe(httpStatus);
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code } });
      expect(answer.text).not.toMatch(/hunter2|srv|10\.0\.0\.7|at /);
      expect(log).toHaveLength(1);
    }
  });

  it('says that the ledger has no submission, if no review worker has opened the review', async () => {
    const thrown = new CountersignError('worker_unavailable', 'not opened');
    const { app } = gateway({ tenantOf: () => Promise.reject(thrown) });
    const { text } = await send(app, { path: `/v1/reviews/${CHANGE}` });
    expect(text).toMatch(/none has opened the review, so the ledger has no submission of it/);
  });

  it('is counted by route, not by id, and the counts are not served beside the API', async () => {
    const metrics = createGatewayMetrics();
    const { app } = gateway(own, { metrics });
    await send(app, { path: `/v1/reviews/${CHANGE}` });
    await send(app, { path: '/v1/reviews/../../etc', authorization: null });
    const text = await (await createMetricsApp(metrics, async () => {}).request('http://gateway/metrics')).text();
    expect((await send(app, { path: '/metrics', authorization: null })).status).toBe(404);
    expect(text).toContain('countersign_gateway_requests_total{method="GET",route="/v1/reviews/:id",status="200"} 1');
    expect(text).not.toContain(CHANGE);
  });
});

const clientOf = (options: Partial<GatewayClientOptions>): GatewayClient =>
  new GatewayClient({
    baseUrl: 'https://gateway.example',
    tenant: 'acme',
    serviceKey: createSigner(agent),
    ...options,
  });

describe('GatewayClient, on loopback', () => {
  it('submits, reads, lists, withdraws and verifies the outcome', async () => {
    const { serve } = await import('@hono/node-server');
    const world = evidenceWorld({ checkpoint: false });
    const { changeId: ended } = await world.review({ table: 'public.items' });
    const { changeId: open } = await world.review({ table: 'public.prices', open: true });
    const { changeId: withdrawn } = await world.review({ table: 'public.prices', requestKey: 'w', stop: 'withdrawn' });
    const page = { reviews: [], next: null };
    const asked: unknown[] = [];
    const { app } = gateway(
      {
        start: async () => ({
          changeId: prepared.changeId,
          preflight: { changeId: prepared.changeId, planHash: null, provisional: true, forbidden: false, findings: [] },
          outcome: null,
        }),
        tenantOf: async () => 'acme',
        bundle: (id) => world.export(id),
        // Of the result the client reads the state only.
        result: async (id) =>
          id === ended
            ? { state: 'ROLLED_BACK', outcome: outcome({ explanation: 'lies' }), verified: true, why: null }
            : { state: 'PENDING', status: null },
        list: async (filter = {}) => (asked.push(filter), page),
        answer: async () => accepted(),
        sendWithdrawal: async () => ({ code: 'too_late', message: '' }),
      },
      { now: Date.now },
    );
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
    try {
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as { port: number };
      const options = {
        baseUrl: `http://127.0.0.1:${port}`,
        tenant: 'acme',
        serviceKey: createSigner({ ...agent, onBehalfOf: 'carol' }),
      };
      const client = new GatewayClient({ ...options, trust: world.trust });
      expect(await client.submit({ target: 'shop', sourceTool: 'SQLDryRun', raw: bytes })).toMatchObject({
        changeId: prepared.changeId,
      });
      expect(await client.status(open)).toMatchObject({ changeId: open, state: 'INTERVENTION_REQUIRED' });
      expect(await client.result(open)).toMatchObject({ state: 'PENDING', status: { changeId: open } });
      expect(await client.result(ended)).toMatchObject({ state: 'COMMITTED', verified: true });
      const unknowing = new GatewayClient(options);
      expect(await unknowing.result(ended)).toMatchObject({ state: 'COMMITTED', verified: false });
      await expect(unknowing.status(open)).rejects.toMatchObject({ code: 'not_verified' });
      const misled = new GatewayClient({ ...options, trust: { ...world.trust, committers: [stranger.publicKey] } });
      expect(await misled.result(ended)).toMatchObject({ verified: false });
      expect(await client.list({ state: 'RUNNING' })).toEqual(page);
      expect(await client.list({ idPrefix: 'aaaaaaaa', limit: 5 })).toEqual(page);
      expect(asked).toEqual([
        { tenant: 'acme', state: 'RUNNING' },
        { tenant: 'acme', idPrefix: 'aaaaaaaa', limit: 5 },
      ]);
      await expect(client.list({ idPrefix: 'aaaaaaa' })).rejects.toMatchObject({ code: 'invalid_input' });
      // The reply of the review says nothing: its row does.
      expect(await client.withdraw(withdrawn)).toMatchObject({
        code: 'duplicate',
        message: expect.stringContaining('Withdrawn by'),
      });
      const outsider = new GatewayClient({ ...options, serviceKey: createSigner(stranger) });
      await expect(outsider.status(CHANGE)).rejects.toMatchObject({ code: 'unauthenticated' });
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    const off = clientOf({ baseUrl: 'http://127.0.0.1:9' });
    await expect(off.status(CHANGE)).rejects.toMatchObject({ code: 'gateway_unavailable' });
  });

  it('reports a withdrawal after the end as too late, by the row of its refusal', async () => {
    const world = evidenceWorld({ checkpoint: false });
    const { changeId } = await world.review({ table: 'public.items' });
    const ledger = world.ledger.as('cs_gateway');
    const gone = (): never => {
      throw new WorkflowNotFoundError('completed', changeId, undefined);
    };
    const reviews = new ReviewClient({
      temporal: fakeTemporal({ executeUpdate: gone }).client,
      ledger: failing<ClientLedger>({
        rows: (id) => ledger.read(id),
        recordLateWithdrawal: async (id, kind, message, why) => {
          const refused = { code: 'too_late', message: why } as const;
          await recordRefusedWithdrawal({ ledger, now: () => now }, id, { kind, message, via: 'late' }, refused);
        },
      }),
    });
    const { app } = gateway(
      {
        tenantOf: async () => 'acme',
        bundle: (id) => world.export(id),
        sendWithdrawal: (id, message) => reviews.sendWithdrawal(id, message),
      },
      { answers: failing<GatewayDeps['answers']>({ withdrawalScopeOf: async () => null }), now: Date.now },
    );
    const client = clientOf({
      fetch: (async (url: URL, init: RequestInit) => app.request(String(url), init)) as typeof fetch,
    });
    expect(await client.withdraw(changeId)).toEqual({ code: 'too_late', message: 'The review is closed' });
    expect((await ledger.read(changeId)).at(-1)?.row).toMatchObject({
      kind: 'answer_refused',
      actor: 'cs_gateway',
      body: { code: 'too_late', about: 'withdraw', via: 'late' },
    });
  });

  it('acknowledges a duplicate of an answer by another key of the person, whose owner an operator signed', async () => {
    const world = evidenceWorld({ checkpoint: false });
    const answers = [{ by: 'alice', decision: 'confirm' as const, passkey: true }];
    const { changeId } = await world.review({ table: 'public.prices', open: true, answers });
    const bundle = await world.export(changeId);
    const violationId = String(bundle.rows.find(({ row }) => row.kind === 'answer_accepted')?.row.body['violationId']);
    const key = world.keys.approvers.find(({ entry: { subject } }) => subject.id === 'alice')!;
    const [found] = await world.keys.envelopesOf([key.keyId]);
    const respond = (path: string, method: string): unknown => {
      if (path === '/v1/key') return found?.registration;
      return method === 'POST' ? { [violationId]: { code: 'duplicate', message: '' } } : bundle;
    };
    const serviceKey = createSigner(key);
    const client = clientOf({
      serviceKey,
      trust: world.trust,
      fetch: (async ({ pathname }: URL, { method = '' }: RequestInit) =>
        new Response(`${canonicalJson(respond(pathname, method))}\n`)) as typeof fetch,
    });
    const choice = { violationIds: [violationId], decision: 'confirm' as const, reason: '' };
    const validity = { issuedAt: now, expiresAt: now };
    const signed = signAnswers(changeId, await client.review(changeId), choice, serviceKey, validity);
    expect(await client.answer(changeId, [...signed])).toMatchObject({ [violationId]: { code: 'duplicate' } });
  });

  it.each([
    ['baseUrl', undefined],
    ['tenant', 'my tenant'],
    ['serviceKey', agent],
    ['trust.committers', { operators: [] }],
  ])('is not made without a valid %s, and says so without a private key', (field, value) => {
    const made = (): unknown => clientOf({ [field.split('.')[0] ?? '']: value });
    expect(made).toThrow(expect.objectContaining({ code: 'invalid_input', field }));
    expect(made).toThrow(`${field}: expected`);
    expect(made).not.toThrow(/PRIVATE|[0-9a-f]{64}/);
  });

  it('is not made with an option that it does not have', () => {
    const made = (): unknown => clientOf({ trusted: null } as object);
    expect(made).toThrow(expect.objectContaining({ code: 'invalid_input', field: 'trusted' }));
  });

  it.each(['', '/', '/countersign', '/countersign/'])(
    'signs the path that the gateway receives if a proxy removes the prefix "%s"',
    async (prefix) => {
      const { app } = gateway({ list: async () => ({ reviews: [], next: null }) });
      const client = clientOf({
        baseUrl: `https://gateway.example${prefix}`,
        fetch: (async ({ href }: URL, init: RequestInit) =>
          app.request(href.replace('/countersign/', '/'), init)) as typeof fetch,
      });
      expect(await client.list({ target: 'shop' })).toMatchObject({ reviews: [] });
    },
  );

  it('waits between two polls for the outcome if they are answered at once', async () => {
    let polls = 0;
    const hasty = async (): Promise<Response> => {
      polls += 1;
      return Response.json({ state: 'PENDING' });
    };
    const client = clientOf({ fetch: hasty as typeof fetch });
    expect(await client.result(CHANGE, { timeoutMs: 800 })).toEqual({ state: 'PENDING', status: null });
    expect(polls).toBeLessThanOrEqual(3);
  });

  it('refuses a response of unknown format', async () => {
    const odd = async (): Promise<Response> => new Response('<html>', { status: 200 });
    const client = clientOf({ fetch: odd as typeof fetch });
    await expect(client.result(CHANGE)).rejects.toMatchObject({ code: 'gateway_unavailable' });
    await expect(client.status(CHANGE)).rejects.toMatchObject({ code: 'not_verified' });
    expect(() => clientOf({ baseUrl: 'file:///etc' })).toThrow('baseUrl: expected an http or https URL');
  });
});
