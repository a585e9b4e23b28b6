import type { PolicyRevision } from '../../policy/evidence/predicates';
import type { PublishedRevision } from '../../client/gateway-policy';
import type { Plan } from '../../policy/contracts/plan';
import type { SigningKey } from '../../signing/keys';

export interface Publishing {
  readonly bundleText: string;
  readonly plans: readonly (PolicyRevision['plans'][number] & { readonly plan: Plan })[];
  readonly operator: SigningKey;
  readonly now: Date;
}

/** Where the policy is published: through a gateway, or in the database with the role of the operator. */
export interface PublishedPolicy {
  /** The newest revision that a trusted operator signed and none revoked; null if there is none. */
  readonly newest: () => Promise<PublishedRevision | null>;
  readonly publish: (publishing: Publishing) => Promise<{ readonly revision: number; readonly published: boolean }>;
  readonly close: () => Promise<void>;
}
