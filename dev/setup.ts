import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { withDatabase } from '../storage/database/database';
import { migrate } from '../storage/database/migrate';
import { asRole } from '../storage/database/role-url';
import { ROLES, type Role } from '../storage/database/roles';
import { createKeyRegistry } from '../storage/keys/key-registry';
import { publishBundle } from '../storage/plans/publish';
import { initTarget } from '../source-tools/sql/staging/init-target';
import { ANY_TENANT } from '../policy/evidence/predicates';
import { fullGrant, signKeyEntry } from '../signing/registry-entry';
import { compileAll } from '../workers/compile';
import type { Runtime } from './embedded/runtime';
import type { Say } from './embedded/processes';
import type { Extensions } from '../workers/extensions';
import { demoKeys, type DemoKeys } from './demo-keys';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { rolePassword, RoleInUse, type RolePassword } from '../storage/database/role-password';
import { ConfigError } from '../workers/config-error';
import { readJson } from '../workers/json-file';

/** A database in the embedded PostgreSQL, whose changes are reviewed. Agents may change the tables of the schema `public`. */
export interface DevTarget {
  readonly name: string;
  /** Default: the name of the target. */
  readonly database?: string;
  /** Fills the database once; called with a superuser's URL before roles and grants are made. */
  readonly seed?: (adminUrl: string) => Promise<void>;
}

export interface DevSetup {
  readonly keys: DemoKeys;
  readonly trustFile: string;
  readonly targetsFile: string;
  readonly databaseUrls: Readonly<Record<Role, string>>;
  readonly targetAdminUrls: Readonly<Record<string, string>>;
}

interface DevSetupOptions {
  readonly runtime: Pick<Runtime, 'postgres' | 'stateDir'>;
  readonly extensions: Extensions;
  readonly bundleText: string;
  readonly targets: readonly DevTarget[];
  /** Server of the targets. Default: the one of the runtime. */
  readonly targetServer?: Runtime['postgres'];
  /** Targets other than databases, as in the targets file. */
  readonly otherTargets?: readonly object[];
  readonly say: Say;
  /** Name of the Countersign database. */
  readonly database?: string;
  /** One password for every role, for setups that share a server and so its roles. */
  readonly password?: string;
  /** Whether unknown passwords of existing roles may be replaced, on a server that was not started here. */
  readonly rotate?: boolean;
}

/**
 * Creates databases, schema, one role per process, keys, registry, policy and targets. Idempotent. Throws ConfigError if the roles
 * of the server have passwords that are not known, unless `rotate`: they may belong to another installation.
 */
export async function setUpDev(options: DevSetupOptions): Promise<DevSetup> {
  const { extensions, bundleText, targets, say, database = 'countersign' } = options;
  const { postgres, stateDir } = options.runtime;
  await postgres.createDatabase(database);
  const adminUrl = postgres.superuserUrl(database);
  const newPassword = (): string => options.password ?? randomBytes(24).toString('hex');
  const passwords = await rolePasswords(options.runtime, adminUrl, options);
  const toSet = ROLES.flatMap((role) => (passwords[role].set ? [[role, passwords[role].password]] : []));
  await migrate(adminUrl, { roles: Object.fromEntries(toSet) as Record<string, string> });
  const databaseUrls = Object.fromEntries(
    ROLES.map((role) => [role, asRole(adminUrl, role, passwords[role].password)]),
  ) as Record<Role, string>;
  say(`Database "${database}": schema and one role for each process are ready`);

  const keys = demoKeys(join(stateDir, 'keys'), new Date());
  await register(databaseUrls.cs_operator, keys, bundleText, extensions, say);
  const trustFile = writeJson(stateDir, 'trust.json', {
    operators: [keys.operator.key.publicKey],
    committers: [keys.committer.key.publicKey],
  });

  const server = options.targetServer ?? postgres;
  const prepared = await Promise.all(targets.map((target) => setUpTarget(server, target, newPassword)));
  const targetsFile = writeJson(stateDir, 'targets.json', {
    targets: [
      ...prepared.map(({ name, stageUrl, commitUrl }) => ({ name, development: true, stageUrl, commitUrl })),
      ...(options.otherTargets ?? []),
    ],
  });
  say(`Targets: ${targets.map((t) => t.name).join(', ')} (roles, grants and marker table)`);
  return {
    keys,
    trustFile,
    targetsFile,
    databaseUrls,
    targetAdminUrls: Object.fromEntries(prepared.map((t) => [t.name, t.adminUrl])),
  };
}

async function register(
  operatorUrl: string,
  keys: DemoKeys,
  bundleText: string,
  extensions: Extensions,
  say: Say,
): Promise<void> {
  const operator = keys.operator.key;
  await withDatabase({ url: operatorUrl, applicationName: 'countersign-setup' }, async (db) => {
    const registry = createKeyRegistry({ db, trustedOperators: [operator.publicKey], now: Date.now });
    const known = new Set((await registry.list()).map((key) => key.keyId));
    for (const { key } of Object.values(keys)) {
      if (known.has(key.keyId)) continue;
      await registry.add(
        signKeyEntry(
          // Demo keys are only accepted for development targets, and each run of the demo has its own tenant.
          { ...key, ...fullGrant(key.kind, [ANY_TENANT]), addedAt: new Date().toISOString() },
          operator,
        ),
      );
    }
    const plans = compileAll(bundleText, extensions);
    const { revision, published } = await publishBundle(db, { bundleText, plans, operator });
    say(
      `Policy: revision ${revision} ${published ? 'published' : 'is already published'}, signed by the demo operator key`,
    );
  });
}

async function setUpTarget(
  postgres: Runtime['postgres'],
  target: DevTarget,
  newPassword: () => string,
): Promise<{ name: string; stageUrl: string; commitUrl: string; adminUrl: string }> {
  const { database = target.name } = target;
  await postgres.createDatabase(database);
  const adminUrl = postgres.superuserUrl(database);
  await target.seed?.(adminUrl);
  const [stagePassword, commitPassword] = [newPassword(), newPassword()];
  // Roles belong to the whole server: each target needs different names.
  const [stageRole, commitRole] = [`stage_${target.name}`, `commit_${target.name}`];
  await initTarget(adminUrl, {
    stageRole,
    commitRole,
    passwords: { stage: stagePassword, commit: commitPassword },
    schemas: ['public'],
  });
  return {
    name: target.name,
    stageUrl: asRole(adminUrl, stageRole, stagePassword),
    commitUrl: asRole(adminUrl, commitRole, commitPassword),
    adminUrl,
  };
}

const FILE = 'role-passwords.json';
const Passwords = z.partialRecord(z.enum(ROLES), z.string().min(1));

type RolePasswords = Readonly<Record<Role, RolePassword>>;

/**
 * The password of each role, also written to the state directory before the server gets it, so that a run that was killed can be
 * repeated. On a server that was not started here, throws ConfigError if a role has another password, unless `rotate`: processes of
 * another installation may log in with it.
 */
async function rolePasswords(
  { postgres, stateDir }: Pick<Runtime, 'postgres' | 'stateDir'>,
  adminUrl: string,
  { password: given, rotate: replaces = false }: { readonly password?: string; readonly rotate?: boolean },
): Promise<RolePasswords> {
  const path = join(stateDir, FILE);
  const known = existsSync(path) ? readJson(path, Passwords) : {};
  const rotate = replaces || postgres.pid !== undefined;
  const entries = await withDatabase({ url: adminUrl, applicationName: 'countersign-setup', max: 1 }, async (db) => {
    const found: [Role, RolePassword][] = [];
    for (const role of ROLES)
      found.push([role, await rolePassword({ db, adminUrl, role, known: given ?? known[role], rotate })]);
    return found;
  }).catch((error: unknown) => {
    if (!(error instanceof RoleInUse)) throw error;
    throw new ConfigError(
      `${error.message}. If another installation of Countersign uses the server of COUNTERSIGN_DATABASE_ADMIN_URL, unset the variable, so that a server is started here, or name another server: its processes would lose their access. If the role is left from an earlier dev or demo, give --rotate to set a new password`,
      { cause: error },
    );
  });
  writeJson(stateDir, FILE, Object.fromEntries(entries.map(([role, { password }]) => [role, password])));
  return Object.fromEntries(entries) as RolePasswords;
}

/** Writes a file of the state directory that only this user may read. Returns its path. */
function writeJson(dir: string, name: string, value: unknown): string {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, name);
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  return path;
}
