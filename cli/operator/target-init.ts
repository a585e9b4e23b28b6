import { initTarget } from '../../source-tools/sql/staging/init-target';
import { ConfigError, type Env } from '../../workers/config';
import { RoleInUse } from '../../storage/database/role-password';
import { asRole } from '../../storage/database/role-url';
import { naming } from '../init/naming';
import { targetPasswords, targetRoles } from '../init/targets';

const ADMIN_URL = 'COUNTERSIGN_TARGET_ADMIN_URL';

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
  const adminUrl = env[ADMIN_URL];
  if (adminUrl === undefined)
    throw new ConfigError(
      `${ADMIN_URL} is not set: expected the URL of a role that may create roles and schemas in the target`,
    );
  const schemas = (env['COUNTERSIGN_TARGET_SCHEMAS'] ?? 'public').split(',').map((each) => each.trim());
  const { stage: stageRole, commit: commitRole } = targetRoles(target);
  if (options.dryRun)
    return [
      `would make schema countersign with the marker table`,
      `would make the roles ${stageRole} and ${commitRole}, with rights on ${schemas.join(', ')}`,
    ];
  const passwords = await naming(ADMIN_URL, () => newPasswords(target, adminUrl, options.rotate));
  const done = await naming(ADMIN_URL, () => initTarget(adminUrl, { stageRole, commitRole, passwords, schemas }));
  log('For the committer only (COUNTERSIGN_TARGETS_FILE); shown once:');
  const entry = {
    name: target,
    development: false,
    stageUrl: asRole(adminUrl, stageRole, passwords.stage),
    commitUrl: asRole(adminUrl, commitRole, passwords.commit),
  };
  return [...done, JSON.stringify(entry)];
}

/** Says what to do about a role that exists. */
async function newPasswords(target: string, adminUrl: string, rotate: boolean) {
  try {
    const { stage, commit } = await targetPasswords({ name: target, adminUrl }, undefined, rotate);
    return { stage: stage.password, commit: commit.password };
  } catch (error) {
    if (!(error instanceof RoleInUse)) throw error;
    throw new ConfigError(
      `${error.message}. Give --rotate to set a new password; a committer with the old one loses its access`,
      { cause: error },
    );
  }
}
