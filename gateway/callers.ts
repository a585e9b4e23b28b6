import type { Context } from 'hono';
import { z } from 'zod';
import { CountersignError } from '../client/errors';
import { readBody } from '../client/http-body';
import { parseInput } from '../client/parse';
import { REQUEST_WINDOW_MS } from '../client/request-claim';
import { Name, Sha256Hex } from '../policy/contracts/diff';
import { sha256Hex } from '../policy/contracts/hash';
import { mayUse, type RegisteredKey } from '../policy/evidence/key-registry';
import { ANY_TENANT, type KeyKind, type KeyRight } from '../policy/evidence/predicates';
import { authenticate } from './authenticate';
import type { GatewayDeps } from './deps';
import type { GatewayMetrics, RefusalReason } from './metrics';
import { Nonces } from './nonces';
import { noReview, tenantOfReview } from './review-tenant';

/** The last sentence of every message about an invalid request. */
export const NOTHING_DONE = 'Nothing was done';

/** Of a JSON body: a submission with metadata and envelope, or 50 signed answers. */
export const MAX_JSON_BYTES = 1024 * 1024;

/** Keys of people and agents. Keys of our own processes sign records, never requests. */
const HOLDERS: readonly KeyKind[] = ['service', 'approver', 'operator'];

/** The parameters of a path that names a review. */
export const ReviewPath = z.object({ id: Sha256Hex });

/** An authenticated request. */
export interface Caller {
  readonly key: RegisteredKey;
  /** The right of the key that the request uses. */
  readonly right: KeyRight;
  readonly body: Uint8Array;
}

/** Who sent a request, and which reviews they may access. */
export class Callers {
  readonly #nonces: Nonces;

  constructor(
    private readonly deps: GatewayDeps,
    private readonly metrics: GatewayMetrics,
  ) {
    this.#nonces = deps.nonces ?? new Nonces({ perKey: 20_000, total: 200_000 });
  }

  /**
   * W1. Before it reads the body, throws `unauthenticated` for a request that is not signed by an active key, and `not_eligible`
   * for a key that has none of `rights`.
   */
  async authenticate(c: Context, maxBody: number, ...rights: readonly KeyRight[]): Promise<Caller> {
    const url = new URL(c.req.url);
    const { deps } = this;
    const { find } = await deps.keys();
    const authentication = authenticate(
      { method: c.req.method, path: url.pathname + url.search, header: c.req.header('authorization') },
      find,
      deps.now(),
    );
    if (!authentication.ok) throw this.#unauthenticated(authentication.message);
    const { key, claim } = authentication;
    if (!HOLDERS.includes(key.kind))
      throw this.#unauthenticated(`Expected a key of kind ${HOLDERS.join(', ')}, got one of kind ${key.kind}`);
    const right = rights.find((wanted) => key.rights.includes(wanted));
    if (right === undefined)
      throw this.metrics.refusal(
        'no_right',
        'not_eligible',
        `Key ${key.keyId} lacks the right "${rights.join('" or "')}"`,
      );
    const body = await readBody(c.req.raw, maxBody);
    if (sha256Hex(body) !== claim.bodySha256) throw this.#unauthenticated('The claim was signed for another body');
    const expiresAt = Date.parse(claim.issuedAt) + REQUEST_WINDOW_MS;
    const spent = this.#nonces.spend(key.keyId, claim.nonce, expiresAt, deps.now());
    if (spent === 'reused')
      throw this.#unauthenticated('This request was sent before: sign each request separately', 'nonce_reused');
    if (spent === 'full')
      throw this.metrics.refusal('nonces_full', 'too_many_requests', 'Too many requests within 5 minutes: send fewer');
    return { key, right, body };
  }

  /** Throws `not_eligible` if the caller may not act for `tenant`. */
  assertTenant({ key, right }: Caller, tenant: string): void {
    if (mayUse(key, { right, tenant })) return;
    throw this.metrics.refusal('other_tenant', 'not_eligible', `Key ${key.keyId} may not act for tenant "${tenant}"`, {
      field: 'tenant',
    });
  }

  /** The tenant that the query names, or the only one of the caller. */
  tenantOf(c: Context, caller: Caller): string {
    const named = c.req.query('tenant');
    if (named !== undefined) {
      const tenant = parseInput(Name, named, NOTHING_DONE);
      this.assertTenant(caller, tenant);
      return tenant;
    }
    const [only, ...more] = caller.key.tenants;
    if (only !== undefined && only !== ANY_TENANT && more.length === 0) return only;
    throw new CountersignError(
      'invalid_input',
      'tenant: expected the name of a tenant in the query, because this key may act in several',
      { field: 'tenant' },
    );
  }

  /** W2. The id of the review that the path names. Throws the same `not_found` for a review of another tenant and for none. */
  async reviewOf(c: Context, caller: Caller): Promise<string> {
    const { id } = parseInput(ReviewPath, c.req.param(), NOTHING_DONE);
    const tenant = await tenantOfReview(this.deps.reviews, id);
    if (tenant === null) throw new CountersignError('not_found', noReview(id));
    if (mayUse(caller.key, { right: caller.right, tenant })) return id;
    throw this.metrics.refusal('other_tenant', 'not_found', noReview(id));
  }

  /** As `reviewOf`. Null before a review worker has opened the review: its tenant is then unknown. */
  async openedReviewOf(c: Context, caller: Caller): Promise<string | null> {
    try {
      return await this.reviewOf(c, caller);
    } catch (error) {
      if (error instanceof CountersignError && error.code === 'worker_unavailable') return null;
      throw error;
    }
  }

  #unauthenticated(message: string, reason: RefusalReason = 'unauthenticated'): CountersignError {
    return this.metrics.refusal(reason, 'unauthenticated', message);
  }
}
