import type { Context } from 'hono';
import { CountersignError } from '../client/errors';
import { readBody } from '../client/http-body';
import { parseInput } from '../client/parse';
import { REQUEST_WINDOW_MS } from '../client/request-claim';
import { Name, Sha256Hex } from '../policy/contracts/diff';
import { sha256Hex } from '../policy/contracts/hash';
import type { ReviewStatus } from '../policy/contracts/status';
import type { RegisteredKey } from '../policy/evidence/key-registry';
import { authenticate } from './authenticate';
import type { GatewayDeps } from './deps';
import type { GatewayMetrics, RefusalReason } from './metrics';
import { Nonces } from './nonces';

/** The last sentence of every message about an invalid request. */
export const NOTHING_DONE = 'Nothing was done';

/** An authenticated request. */
export interface Caller {
  readonly key: RegisteredKey;
  /** The tenants that the key may act for. */
  readonly tenants: readonly string[];
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

  /** W1. Throws `unauthenticated` before it reads the body of a request that is not signed by an active key. */
  async authenticate(c: Context, maxBody: number): Promise<Caller> {
    const url = new URL(c.req.url);
    const { deps } = this;
    const authentication = await authenticate(
      { method: c.req.method, path: url.pathname + url.search, header: c.req.header('authorization') },
      deps.findKey,
      deps.now(),
    );
    if (!authentication.ok) throw this.#unauthenticated(authentication.message);
    const { key, claim } = authentication;
    if (key.kind !== 'service' && key.kind !== 'approver')
      throw this.#unauthenticated(`Expected a service or approver key, got one of kind ${key.kind}`);
    const body = await readBody(c.req.raw, maxBody);
    if (sha256Hex(body) !== claim.bodySha256) throw this.#unauthenticated('The claim was signed for another body');
    const expiresAt = Date.parse(claim.issuedAt) + REQUEST_WINDOW_MS;
    const spent = this.#nonces.spend(key.keyId, claim.nonce, expiresAt, deps.now());
    if (spent === 'reused')
      throw this.#unauthenticated('This request was sent before: sign each request separately', 'nonce_reused');
    if (spent === 'full') {
      this.metrics.refused('nonces_full');
      throw new CountersignError('too_many_requests', 'Too many requests within 5 minutes: send fewer');
    }
    return { key, tenants: deps.tenantsOf(key), body };
  }

  /** Throws `not_eligible` if the caller may not act for `tenant`. */
  assertTenant({ key, tenants }: Caller, tenant: string): void {
    if (tenants.includes(tenant)) return;
    this.metrics.refused('other_tenant');
    throw new CountersignError('not_eligible', `Key ${key.keyId} may not act for tenant "${tenant}"`, {
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
    const [only, ...more] = caller.tenants;
    if (only !== undefined && more.length === 0) return only;
    throw new CountersignError(
      'invalid_input',
      `tenant: expected one of the ${caller.tenants.length} that this key may act for, in the query`,
      { field: 'tenant' },
    );
  }

  /** W2. The review that the path names. Throws `not_found` for a review of another tenant. */
  async reviewOf(c: Context, caller: Caller): Promise<ReviewStatus> {
    const id = parseInput(Sha256Hex, c.req.param('id'), NOTHING_DONE);
    const status = await this.deps.reviews.status(id);
    if (caller.tenants.includes(status.tenant)) return status;
    this.metrics.refused('other_tenant');
    throw new CountersignError('not_found', `No review ${id}`);
  }

  #unauthenticated(message: string, reason: RefusalReason = 'unauthenticated'): CountersignError {
    this.metrics.refused(reason);
    return new CountersignError('unauthenticated', message);
  }
}
