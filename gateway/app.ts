/**
 * HTTP for agents and inbox, so that they hold no credentials of Temporal or the database. It holds no signing key, so it can forge nothing.
 *
 * W1 Before a request does anything, an active key has signed exactly it: method, path, body, time, nonce.
 * W2 A key sees and touches only reviews of its own tenants; another tenant's review looks like none.
 * W3 Answers are relayed only as signed envelopes; what they are worth is the admission's to say.
 */
import { Hono, type Context } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { z } from 'zod';
import { AnswerMessage } from '../policy/contracts/answer';
import { Envelope, MAX_DIFF_BYTES, Name, Sha256Hex, Submission } from '../policy/contracts/diff';
import { changeId, inputSha } from '../policy/contracts/change-id';
import { sha256Hex } from '../policy/contracts/hash';
import { ReviewState } from '../policy/contracts/outcome';
import type { ReviewStatus } from '../policy/contracts/status';
import { WithdrawMessage } from '../policy/contracts/withdrawal';
import type { ByteStore } from '../policy/evidence/byte-store';
import type { RegisteredKey } from '../policy/evidence/key-registry';
import { verifyEnvelope } from '../signing/envelope';
import { CountersignError, messageOf } from '../client/errors';
import { parseInput } from '../client/parse';
import type { ReviewClient } from '../client/review-client';
import { jsonBody, readBody } from '../client/body';
import { toErrorResponse } from './http-errors';
import { createGatewayMetrics, type GatewayMetrics } from './metrics';
import { Nonces } from './nonces';
import { authenticate, REQUEST_WINDOW_MS } from '../client/request-auth';

export interface GatewayDeps {
  readonly reviews: Pick<ReviewClient, 'start' | 'status' | 'result' | 'list' | 'answer' | 'withdraw'>;
  readonly store: Pick<ByteStore, 'put' | 'has'>;
  readonly findKey: (keyId: string) => Promise<RegisteredKey | null>;
  /** The tenants that a key may act for; empty for none. */
  readonly tenantsOf: (key: RegisteredKey) => readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: { readonly error: (facts: object, message: string) => void };
  /** True when what the gateway needs answers; bounded by the giver. */
  readonly healthy?: () => Promise<boolean>;
  readonly metrics?: GatewayMetrics;
  readonly nonces?: Nonces;
  readonly submitTimeoutMs?: number;
}

/** JSON bodies: a submission with metadata and envelope, or 50 signed answers. */
const MAX_JSON_BYTES = 1024 * 1024;
const MAX_WAIT_MS = 60_000;
const TODO = 'Nothing was done';

interface Caller {
  readonly key: RegisteredKey;
  readonly tenants: readonly string[];
  readonly body: Uint8Array;
}

export function createGateway(deps: GatewayDeps): Hono {
  const app = new Hono();
  const metrics = deps.metrics ?? createGatewayMetrics();
  const nonces = deps.nonces ?? new Nonces({ perKey: 20_000, total: 200_000 });

  app.use(
    secureHeaders({
      contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      xFrameOptions: 'DENY',
    }),
  );
  app.use(async (c, next) => {
    const began = performance.now();
    await next();
    c.header('Cache-Control', 'no-store');
    metrics.observe({
      method: c.req.method,
      route: routeOf(c),
      status: c.res.status,
      seconds: (performance.now() - began) / 1000,
    });
  });
  app.onError((thrown, c) => {
    const error =
      thrown instanceof CountersignError
        ? thrown
        : new CountersignError('internal', messageOf(thrown), { cause: thrown });
    const { status, body } = toErrorResponse(error);
    if (status >= 500) deps.log.error({ route: routeOf(c), code: error.code, reason: error.message }, 'request failed');
    if (status === 401) c.header('WWW-Authenticate', 'Countersign');
    return c.json(body, status);
  });
  app.notFound((c) => c.json({ error: { code: 'not_found', message: 'No such route' } }, 404));

  /** W1. Throws `unauthenticated`; then nothing was read but the header. */
  async function caller(c: Context, maxBody: number): Promise<Caller> {
    const refuse = (why: Parameters<GatewayMetrics['refused']>[0], error: CountersignError): never => {
      metrics.refused(why);
      throw error;
    };
    const url = new URL(c.req.url);
    const auth = await authenticate(
      { method: c.req.method, path: url.pathname + url.search, header: c.req.header('authorization') },
      deps.findKey,
      deps.now(),
    );
    if (!auth.ok) return refuse('unauthenticated', new CountersignError('unauthenticated', auth.message));
    const { key, claim } = auth;
    if (key.kind !== 'service' && key.kind !== 'approver')
      return refuse(
        'unauthenticated',
        new CountersignError('unauthenticated', `Expected a service or approver key, got one of kind ${key.kind}`),
      );
    const body = await readBody(c.req.raw, maxBody);
    if (sha256Hex(body) !== claim.bodySha256)
      return refuse(
        'unauthenticated',
        new CountersignError('unauthenticated', 'The claim was signed for another body'),
      );
    const spent = nonces.spend(key.keyId, claim.nonce, Date.parse(claim.issuedAt) + REQUEST_WINDOW_MS, deps.now());
    if (spent === 'reused')
      return refuse(
        'nonce_reused',
        new CountersignError('unauthenticated', 'This request was sent before: sign each one anew'),
      );
    if (spent === 'full')
      return refuse(
        'nonces_full',
        new CountersignError('too_many_requests', 'Too many requests within 5 minutes: send fewer'),
      );
    return { key, tenants: deps.tenantsOf(key), body };
  }

  function ofTenant(from: Caller, tenant: string): string {
    if (from.tenants.includes(tenant)) return tenant;
    metrics.refused('other_tenant');
    throw new CountersignError('not_eligible', `Key ${from.key.keyId} may not act for tenant "${tenant}"`, {
      field: 'tenant',
    });
  }

  /** The tenant named in the query, or the key's only one. */
  function tenantOf(c: Context, from: Caller): string {
    const named = c.req.query('tenant');
    if (named !== undefined) return ofTenant(from, parseInput(Name, named, TODO));
    const [only, ...more] = from.tenants;
    if (only !== undefined && more.length === 0) return only;
    throw new CountersignError(
      'invalid_input',
      `tenant: expected one of the ${from.tenants.length} that this key may act for, in the query`,
      { field: 'tenant' },
    );
  }

  /** W2. */
  async function ownReview(c: Context, from: Caller): Promise<ReviewStatus> {
    const id = parseInput(Sha256Hex, c.req.param('id'), TODO);
    const status = await deps.reviews.status(id);
    if (from.tenants.includes(status.tenant)) return status;
    metrics.refused('other_tenant');
    throw new CountersignError('not_found', `No review ${id}`);
  }

  app.get('/healthz', async (c) => {
    const ok = deps.healthy === undefined || (await deps.healthy());
    return c.json({ ok }, ok ? 200 : 503);
  });

  app.get('/metrics', async (c) =>
    c.text(await metrics.registry.metrics(), 200, { 'Content-Type': metrics.registry.contentType }),
  );

  app.put('/v1/diffs/:sha256', async (c) => {
    const from = await caller(c, MAX_DIFF_BYTES);
    const digest = parseInput(Sha256Hex, c.req.param('sha256'), TODO);
    const tenant = tenantOf(c, from);
    if (from.body.length === 0)
      throw new CountersignError('invalid_input', 'body: expected at least one byte, got 0', { field: 'body' });
    const got = sha256Hex(from.body);
    if (got !== digest)
      throw new CountersignError('invalid_input', `sha256: the path says ${digest}, the body hashes to ${got}`, {
        field: 'sha256',
      });
    await stored(() => deps.store.put(tenant, from.body));
    return c.json({ diffSha: digest, bytes: from.body.length }, 201);
  });

  app.post('/v1/reviews', async (c) => {
    const from = await caller(c, MAX_JSON_BYTES);
    const submission = parseInput(Submission, jsonBody(from.body), TODO);
    ofTenant(from, submission.tenant);
    checkSubmission(submission, from.key);
    if (submission.supersedes !== undefined) await superseded(submission.supersedes, submission.tenant);
    if (
      submission.inline === undefined &&
      !(await stored(() => deps.store.has(submission.tenant, submission.diffSha)))
    ) {
      throw new CountersignError(
        'diff_missing',
        `diffSha: no such bytes in the store; PUT /v1/diffs/${submission.diffSha} first`,
        { field: 'diffSha' },
      );
    }
    const submitted = await deps.reviews.start(
      submission,
      deps.submitTimeoutMs === undefined ? {} : { timeoutMs: deps.submitTimeoutMs },
    );
    return c.json(submitted, submitted.preflight === 'pending' ? 202 : 200);
  });

  async function superseded(id: string, tenant: string): Promise<void> {
    const status = await deps.reviews.status(id);
    if (status.tenant !== tenant)
      throw new CountersignError('not_found', `supersedes: no review ${id}`, { field: 'supersedes' });
  }

  app.get('/v1/reviews', async (c) => {
    const from = await caller(c, 0);
    const query = parseInput(ListQuery, c.req.query(), TODO);
    return c.json(await deps.reviews.list({ ...query, tenant: tenantOf(c, from) }));
  });

  app.get('/v1/reviews/:id', async (c) => c.json(await ownReview(c, await caller(c, 0))));

  app.get('/v1/reviews/:id/result', async (c) => {
    const from = await caller(c, 0);
    const { waitMs } = parseInput(WaitQuery, c.req.query(), TODO);
    const { changeId: id } = await ownReview(c, from);
    return c.json(await deps.reviews.result(id, { timeoutMs: waitMs }));
  });

  app.post('/v1/reviews/:id/answers', async (c) => {
    const from = await caller(c, MAX_JSON_BYTES);
    const { answers } = parseInput(
      SignedAnswerMessage,
      jsonBody(from.body),
      'The gateway relays signed envelopes only',
    );
    const { changeId: id } = await ownReview(c, from);
    return c.json(await deps.reviews.answer(id, answers));
  });

  app.post('/v1/reviews/:id/withdraw', async (c) => {
    const from = await caller(c, MAX_JSON_BYTES);
    const { reason } = parseInput(WithdrawBody, jsonBody(from.body), TODO);
    const { changeId: id } = await ownReview(c, from);
    return c.json(await deps.reviews.withdraw(id, { actor: actorOf(from.key), reason }));
  });

  return app;
}

const SignedAnswerMessage = AnswerMessage.extend({ answers: z.array(Envelope).min(1).max(50) });
const WithdrawBody = WithdrawMessage.omit({ actor: true });
const Whole = z
  .string()
  .regex(/^[0-9]{1,6}$/, 'expected a whole number')
  .transform(Number);
const WaitQuery = z.strictObject({ waitMs: Whole.pipe(z.int().max(MAX_WAIT_MS)).default(0) });
const ListQuery = z.strictObject({
  tenant: Name.optional(),
  state: ReviewState.optional(),
  target: Name.optional(),
  limit: Whole.pipe(z.int().min(1).max(500)).optional(),
  after: z.string().max(500).optional(),
});

/** Binds the submission to the key that sent it: nobody submits in another's name, and nobody unsigned. */
function checkSubmission(submission: Submission, key: RegisteredKey): void {
  const refuse = (field: string, message: string): never => {
    throw new CountersignError('not_verified', `${field}: ${message}`, { field });
  };
  if (submission.envelope === undefined)
    refuse('envelope', 'expected the submission statement, signed by the key that sends it; got none');
  const verified = verifyEnvelope(submission.envelope, key.publicKey, 'submission');
  if (!verified.ok) return refuse('envelope', verified.message);
  if (verified.predicate.changeId !== changeId(submission) || verified.predicate.inputSha !== inputSha(submission))
    refuse('envelope', 'was signed for another change');
  // A signal to a workflow of the sender's choice: only for those who may send signals themselves.
  if (submission.replyTo !== undefined) {
    throw new CountersignError(
      'invalid_input',
      'replyTo: is for requesters that are workflows, and start reviews through Temporal. Ask for the result instead',
      { field: 'replyTo' },
    );
  }
}

function actorOf(key: RegisteredKey): string {
  return `${key.subject.type}:${key.subject.id}`.slice(0, 200);
}

function routeOf(c: Context): string {
  // The pattern, never the path: ids would make a series each.
  const route = c.req.matchedRoutes.findLast((matched) => matched.method !== 'ALL' && !matched.path.endsWith('*'));
  return route?.path ?? 'none';
}

async function stored<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw new CountersignError('store_unavailable', messageOf(error), { cause: error });
  }
}
