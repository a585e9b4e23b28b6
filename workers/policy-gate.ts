import { CountersignError } from '../client/errors';
import type { PolicyGate } from '../gateway/deps';
import { MAX_REVISIONS_A_DAY } from '../storage/database/publish-policy-sql';
import type { Database } from '../storage/database/database';
import { newestRevision, nextRevision } from '../storage/plans/newest-revision';
import { storeRevision } from '../storage/plans/publish';
import type { OperatorKey } from '../signing/operator-key';

/** The error code of `publish_policy` for too many revisions in a day. */
const PROGRAM_LIMIT_EXCEEDED = '54000';

/** The revisions in the database, verified with these operator keys. */
export function policyGate(db: Database, operators: readonly OperatorKey[]): PolicyGate {
  return {
    operators,
    newest: async () => {
      const { newest } = await newestRevision(db, operators);
      const next = await nextRevision(db);
      if (newest === null) return { next, newest: null };
      const { envelope, bundleText } = newest;
      return { next, newest: { envelope, bundleText } };
    },
    store: async (revision, signed) => {
      try {
        return await storeRevision(db, revision, signed);
      } catch (error) {
        if ((error as { code?: unknown }).code !== PROGRAM_LIMIT_EXCEEDED) throw error;
        throw new CountersignError(
          'too_many_requests',
          `A gateway stores at most ${MAX_REVISIONS_A_DAY} revisions a day. Publish with the database role cs_operator, or later`,
          { cause: error },
        );
      }
    },
  };
}
