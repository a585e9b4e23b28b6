import { migrate } from '../../storage/database/migrate';
import type { Env } from '../../workers/config';
import { knownSettings } from '../../workers/local-client';
import { registerSearchAttributes, type Registered } from '../../workers/register-search-attributes';
import { withConnection } from '../../workers/temporal';
import { SEARCH_ATTRIBUTES } from '../../policy/contracts/search-attributes';

/** Registers search attributes on an existing Temporal server, and makes the schema if COUNTERSIGN_DATABASE_ADMIN_URL is set. */
export async function setUp(env: Env, log: (text: string) => void): Promise<Registered> {
  const { temporalAddress, namespace } = knownSettings(env);
  log(`Registering search attributes at ${temporalAddress}, namespace ${namespace}`);
  const done = await withConnection({ ...env, TEMPORAL_ADDRESS: temporalAddress }, (connection) =>
    registerSearchAttributes(connection, namespace, SEARCH_ATTRIBUTES),
  );
  const adminUrl = env['COUNTERSIGN_DATABASE_ADMIN_URL'];
  if (adminUrl === undefined) {
    log('COUNTERSIGN_DATABASE_ADMIN_URL is not set: the Countersign database was not changed');
    return done;
  }
  await migrate(adminUrl, { roles: {} });
  log('The Countersign database has its schema and roles; set a password for each role before its process connects');
  return { added: [...done.added, 'schema'], present: done.present };
}
