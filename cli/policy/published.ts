import type { PublishedRevision } from '../../client/gateway-policy';
import type { Publication } from '../../storage/plans/publish';

/** Where the policy is published: through a gateway, or in the database with the role of the operator. */
export interface PublishedPolicy {
  /** The newest revision that a trusted operator signed and that is not revoked; null before the first. */
  readonly newest: () => Promise<PublishedRevision | null>;
  readonly publish: (
    publishing: Omit<Publication, 'trustedOperators'>,
  ) => Promise<{ readonly revision: number; readonly published: boolean }>;
  readonly close: () => Promise<void>;
}
