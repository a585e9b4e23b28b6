import type { ReviewClient } from '../client/review-client';
import type { ByteStore } from '../policy/evidence/byte-store';
import type { RegisteredKey } from '../policy/evidence/key-registry';
import type { GatewayMetrics } from './metrics';
import type { Nonces } from './nonces';

/** What the gateway needs from the process that serves it. */
export interface GatewayDeps {
  readonly reviews: Pick<ReviewClient, 'start' | 'status' | 'result' | 'list' | 'answer' | 'withdraw'>;
  readonly store: Pick<ByteStore, 'put' | 'has'>;
  readonly findKey: (keyId: string) => Promise<RegisteredKey | null>;
  /** The tenants that a key may act for; may be empty. */
  readonly tenantsOf: (key: RegisteredKey) => readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: { readonly error: (facts: object, message: string) => void };
  /** Whether the services behind the gateway answer; must have a timeout. */
  readonly healthy?: () => Promise<boolean>;
  readonly metrics?: GatewayMetrics;
  readonly nonces?: Nonces;
  readonly submitTimeoutMs?: number;
}
