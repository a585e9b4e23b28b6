import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { initTarget } from '../../source-tools/sql/staging/init-target';
import { withDatabase } from '../../storage/database/database';
import { rolePassword, type RolePassword } from '../../storage/database/role-password';
import { asRole } from '../../storage/database/role-url';
import { ConfigError, readTargets } from '../../workers/config';
import { orExplain } from './database';
import { naming } from './naming';
import { writePrivate } from '../private-files';
import type { InitRequest } from './request';

type TargetEntry = ReturnType<typeof readTargets> extends ReadonlyMap<string, infer T> ? T : never;
type Target = InitRequest['targets'][number];

/** Names of the two roles in a target. */
export function targetRoles(target: string): { readonly stage: string; readonly commit: string } {
  return { stage: `countersign_stage_${target}`, commit: `countersign_commit_${target}` };
}

interface Prepared {
  readonly target: Target;
  readonly stage: RolePassword;
  readonly commit: RolePassword;
}

/** Targets of the file that an earlier run or a person wrote. */
export function knownTargets(dir: string): ReadonlyMap<string, TargetEntry> {
  const path = join(dir, 'targets.json');
  return existsSync(path) ? readTargets(path) : new Map();
}

/**
 * Writes targets.json, then makes marker table, roles and grants in each target. Entries of other targets are kept. Returns
 * whether the file changed.
 */
export async function prepareTargets(request: InitRequest): Promise<boolean> {
  const known = knownTargets(request.dir);
  const prepared: Prepared[] = [];
  for (const target of request.targets) prepared.push(await passwordsOf(request, target, known.get(target.name)));
  const entries = new Map(known);
  for (const { target, stage, commit } of prepared) {
    const { name, adminUrl } = target;
    const roles = targetRoles(name);
    entries.set(name, {
      name,
      development: false,
      stageUrl: asRole(adminUrl, roles.stage, stage.password),
      commitUrl: asRole(adminUrl, roles.commit, commit.password),
    });
  }
  const path = join(request.dir, 'targets.json');
  const changed = writePrivate(path, `${JSON.stringify({ targets: [...entries.values()] }, null, 2)}\n`);
  for (const { target, stage, commit } of prepared) {
    const roles = targetRoles(target.name);
    await initTarget(target.adminUrl, {
      stageRole: roles.stage,
      commitRole: roles.commit,
      passwords: { stage: stage.set ? stage.password : null, commit: commit.set ? commit.password : null },
      schemas: request.schemas,
    });
  }
  return changed;
}

async function passwordsOf(
  { dir, rotate }: InitRequest,
  target: Target,
  known: TargetEntry | undefined,
): Promise<Prepared> {
  if (known !== undefined && !('stageUrl' in known))
    throw new ConfigError(`--target ${target.name}: targets.json has a target of this name that is not a database`);
  const passwords = (): Promise<Omit<Prepared, 'target'>> =>
    orExplain(() => targetPasswords(target, known, rotate), dir);
  return { target, ...(await naming(`--target ${target.name}`, passwords)) };
}

/** The passwords of the two roles: those of `known` that the server accepts, otherwise new ones. Throws RoleInUse unless `rotate`. */
export async function targetPasswords(
  { name, adminUrl }: Target,
  known: { readonly stageUrl: string | null; readonly commitUrl: string | null } | undefined,
  rotate: boolean,
): Promise<Readonly<Record<'stage' | 'commit', RolePassword>>> {
  const roles = targetRoles(name);
  return await withDatabase({ url: adminUrl, applicationName: 'countersign-init', max: 1 }, async (db) => {
    const ask = (role: string, url: string | null | undefined): Promise<RolePassword> =>
      rolePassword({ db, adminUrl, role, known: passwordIn(url, role), rotate });
    return { stage: await ask(roles.stage, known?.stageUrl), commit: await ask(roles.commit, known?.commitUrl) };
  });
}

/** The password of a URL, if it is one of this role. */
function passwordIn(url: string | null | undefined, role: string): string | undefined {
  if (url === null || url === undefined) return undefined;
  const { username, password } = new URL(url);
  return decodeURIComponent(username) === role ? decodeURIComponent(password) || undefined : undefined;
}
