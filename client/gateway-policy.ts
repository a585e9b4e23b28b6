import { z } from 'zod';
import type { PolicyRevision } from '../policy/evidence/predicates';
import { MAX_REVISION_BYTES, NewestRevision, type SignedRevision } from '../policy/evidence/published-policy';
import { verifiedRevision } from '../signing/policy-revision';
import { CountersignError } from './errors';
import { CALL_TIMEOUT_MS, GatewayHttp, json, type GatewayHttpOptions } from './gateway-http';
import type { ReceiptTrust } from './receipt';

const PATH = '/v1/policy';

export interface PublishedRevision {
  readonly revision: PolicyRevision;
  readonly bundleText: string;
}

/** The policy through a gateway, for operators. Needs an operator key with the right `operate` in every tenant. */
export class GatewayPolicy {
  readonly #http: GatewayHttp;

  constructor(
    options: GatewayHttpOptions,
    private readonly trust: ReceiptTrust | null,
  ) {
    this.#http = new GatewayHttp(options);
  }

  /** The newest revision in force, and the number of the next. Throws `not_verified` if no trusted operator signed it. */
  async newest(): Promise<{ readonly next: number; readonly newest: PublishedRevision | null }> {
    const response = await this.#http.call('GET', PATH, null, NewestRevision, { maxBytes: MAX_REVISION_BYTES });
    const { next, newest } = response;
    if (newest === null) return { next, newest };
    const { envelope, bundleText } = newest;
    const revision = verifiedRevision(envelope, bundleText, this.trust?.operators ?? []);
    if (revision !== null) return { next, newest: { revision, bundleText } };
    throw new CountersignError(
      'not_verified',
      `No trusted operator signed the policy that ${this.#http.origin} sends; check COUNTERSIGN_TRUST_FILE or the login`,
    );
  }

  /** Stores a revision that this operator signed. Throws `conflict` if its number is not the next one. */
  async publish(signed: SignedRevision): Promise<void> {
    const Published = z.object({ revision: z.int() });
    await this.#http.call('POST', PATH, json(signed), Published, { timeoutMs: CALL_TIMEOUT_MS * 2 });
  }
}
