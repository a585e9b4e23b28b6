import type { Queryable } from '../database/database';

/**
 * A text that changes whenever a key, a revocation or a revision of the policy is added: their tables are append-only. Rows count also if
 * no trusted operator signed them.
 */
export async function registryVersion(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ version: string }>(
    `select concat_ws('.', (select count(*) from keys), (select count(*) from key_revocations), (select count(*) from passkeys),
       (select count(*) from policy_revisions), (select count(*) from policy_revocations)) as version`,
    [],
    'inbox_registry',
  );
  return rows[0]?.version ?? '';
}
