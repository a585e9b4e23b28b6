import type { TargetAccess, TargetContext } from '../../policy/contracts/target-effects';
import type { GitAccess } from '../../source-tools/git/staging/git-access';
import type { HttpAccess } from '../../source-tools/http/staging/http-access';
import type { JsonObject } from '../../policy/contracts/canonical-json';
import { misconfigured } from '../../policy/contracts/failure';

/** One target in the committer's configuration. Credentials never come from workflow input. */
export type TargetConfig = { readonly name: string; readonly development: boolean } & (
  | {
      /** Connection URL of the role for dry runs; null for cooperative targets. */
      readonly stageUrl: string | null;
      /** Connection URL of the role that may also write the marker; null for cooperative targets. */
      readonly commitUrl: string | null;
    }
  | Omit<GitAccess, 'name'>
  | Omit<HttpAccess, 'name'>
);

export type Targets = ReadonlyMap<string, TargetConfig>;

const users = new WeakMap<Targets, AbortController>();

function userOf(targets: Targets): AbortController {
  const user = users.get(targets) ?? new AbortController();
  users.set(targets, user);
  return user;
}

/** Closes connections that tools keep open between changes. Call it when the process ends. */
export function stopUsing(targets: Targets): void {
  userOf(targets).abort();
}

function accessTo(targets: Targets, name: string, role: 'stage' | 'commit'): TargetAccess | GitAccess | HttpAccess {
  const config = targets.get(name);
  if (config === undefined)
    throw misconfigured(
      `target: expected one of ${[...targets.keys()].join(', ') || '(none configured)'}, got "${name}". Add it to the targets file of the committer, and restart the committer`,
      {
        target: name,
      },
    );
  if ('git' in config) return { name, git: config.git };
  if ('http' in config) return { name, http: config.http };
  const url = role === 'stage' ? config.stageUrl : config.commitUrl;
  if (url === null)
    throw misconfigured(`target: "${name}" has no ${role} credentials in this committer's configuration`, {
      target: name,
    });
  return { name, url };
}

export function targetContext(
  targets: Targets,
  of: {
    readonly target: string;
    readonly role: 'stage' | 'commit';
    readonly changeId: string;
    readonly settings: unknown;
    readonly signal: AbortSignal;
  },
): TargetContext {
  const { changeId, settings, signal } = of;
  const target = accessTo(targets, of.target, of.role);
  return { changeId, target, settings: settings as JsonObject, signal, inUse: userOf(targets).signal };
}
