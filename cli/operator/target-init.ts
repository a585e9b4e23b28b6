import { randomBytes } from 'node:crypto';
import { initTarget } from '../../source-tools/sql/staging/init-target';
import { ConfigError, type Env } from '../../workers/config';
import { withDatabase } from '../../storage/database/database';
import { asRole } from '../../storage/database/role-url';
import { targetRoles } from '../init/targets';

/**
 * Makes marker table, roles and grants in a target, as the administrator that COUNTERSIGN_TARGET_ADMIN_URL names. Returns the
 * steps; the last one is the entry for the committer's targets file, with the new credentials. Throws ConfigError if a role
 * exists, unless `rotate`: a committer that is running would lose its access.
 */
export async function targetInit(
  env: Env,
  target: string,
  options: { readonly dryRun: boolean; readonly rotate: boolean },
  log: (text: string) => void,
): Promise<readonly string[]> {
  const adminUrl = env['COUNTERSIGN_TARGET_ADMIN_URL'];
  if (adminUrl === undefined)
    throw new ConfigError(
      'COUNTERSIGN_TARGET_ADMIN_URL is not set: expected the URL of a role that may create roles and schemas in the target',
    );
  const schemas = (env['COUNTERSIGN_TARGET_SCHEMAS'] ?? 'public').split(',').map((each) => each.trim());
  const { stage: stageRole, commit: commitRole } = targetRoles(target);
  if (options.dryRun)
    return [
      `would make schema countersign with the marker table`,
      `would make the roles ${stageRole} and ${commitRole}, with rights on ${schemas.join(', ')}`,
    ];
  if (!options.rotate) await refuseExisting(adminUrl, [stageRole, commitRole]);
  const passwords = { stage: randomBytes(24).toString('hex'), commit: randomBytes(24).toString('hex') };
  const done = await initTarget(adminUrl, { stageRole, commitRole, passwords, schemas });
  log('For the committer only (COUNTERSIGN_TARGETS_FILE); shown once:');
  const entry = {
    name: target,
    development: false,
    stageUrl: asRole(adminUrl, stageRole, passwords.stage),
    commitUrl: asRole(adminUrl, commitRole, passwords.commit),
  };
  return [...done, JSON.stringify(entry)];
}

async function refuseExisting(url: string, roles: readonly string[]): Promise<void> {
  const { rows } = await withDatabase({ url, applicationName: 'countersign-target-init', max: 1 }, (db) =>
    db.query<{ rolname: string }>('select rolname from pg_roles where rolname = any ($1)', [roles]),
  );
  if (rows[0] === undefined) return;
  throw new ConfigError(
    `Role ${rows[0].rolname} exists already. Give --rotate to set a new password; a committer with the old one loses its access`,
  );
}
