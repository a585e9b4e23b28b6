import { openDatabase } from '../../storage/database/database';
import { newestRevision } from '../../storage/plans/newest-revision';
import { publishBundle } from '../../storage/plans/publish';
import type { Env } from '../../workers/config';
import { localClient } from '../../workers/local-client';
import type { PublishedPolicy } from './published';

/** The policy in the database, with the role of the operator. */
export function policyAtDatabase(env: Env): PublishedPolicy {
  const { operatorDatabaseUrl, operators } = localClient(env);
  const db = openDatabase({ url: operatorDatabaseUrl, applicationName: 'countersign-policy', max: 1 });
  return {
    newest: async () => (await newestRevision(db, operators)).newest,
    publish: async (publishing) => await publishBundle(db, { ...publishing, trustedOperators: operators }),
    close: async () => await db.close(),
  };
}
