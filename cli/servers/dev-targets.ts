import { parseBundle } from '../../policy/bundle/parse-bundle';
import { planKeys, type PlanKey } from '../../policy/bundle/plan-keys';
import { invalidBundle } from '../../workers/compile';
import { ConfigError } from '../../workers/config-error';

/** Built-in tools whose changes the committer applies to something other than a database. */
const NO_DATABASE = new Set(['GitPatch', 'HTTPPatch']);
const RESERVED = new Set(['countersign', 'postgres', 'template0', 'template1']);

export interface DevTargets {
  /** Each target once. `dev` makes a database for each. */
  readonly names: readonly string[];
  /** A change that can be submitted; one that can be applied if the policy has any. */
  readonly example: PlanKey;
  /** What can be submitted but not applied to a database. */
  readonly notApplied: readonly PlanKey[];
}

/** The targets of a policy. Throws ConfigError if it is not a bundle, or if a target has the name of a database of the servers. */
export function devTargets(bundleText: string): DevTargets {
  const parsed = parseBundle(bundleText);
  if (!parsed.ok) throw new ConfigError(invalidBundle(parsed.issues));
  const keys = planKeys(parsed.bundle);
  const [first] = keys;
  if (first === undefined)
    throw new ConfigError('The policy has no target: no change could be submitted. Add one below "targets"');
  const names = [...new Set(keys.map(({ target }) => target))];
  const reserved = names.find((name) => RESERVED.has(name));
  if (reserved !== undefined)
    throw new ConfigError(`targets.${reserved}: the servers have a database of this name. Rename the target`);
  const applied = keys.find(({ sourceTool }) => !NO_DATABASE.has(sourceTool));
  const notApplied = keys.filter(({ sourceTool }) => NO_DATABASE.has(sourceTool));
  return { names, example: applied ?? first, notApplied };
}
