import type { EvalInput } from '../../policy/bundle/evaluate';
import type { Issue } from '../../policy/bundle/issue';
import { parseBundle } from '../../policy/bundle/parse-bundle';
import { traps, unknownTools, expiredWaivers, unusedWaivers } from '../../policy/bundle/lints';
import { sha256Hex } from '../../policy/contracts/hash';
import { compileBundle, invalidBundle, type CompiledPlan } from '../../workers/compile';
import { ConfigError, type Env } from '../../workers/config';
import { loadExtensions, type Extensions } from '../../workers/extensions';
import { extensionsSetting } from '../../workers/local-client';

/** The validators, callbacks and source tools that bundles may name here. */
export async function extensionsOfEnv(env: Env): Promise<Extensions> {
  return await loadExtensions(extensionsSetting(env));
}

export interface CheckedBundle {
  readonly plans: readonly CompiledPlan[];
  readonly issues: readonly Issue[];
  /** What has another effect than a reader of the bundle expects. */
  readonly warnings: readonly Issue[];
}

/** Compiles a bundle that may be published at the time `now`: as `compileBundle`, and no waiver has expired. */
export function checkBundle(text: string, extensions: Extensions, now: Date): CheckedBundle {
  const { plans, issues } = compileBundle(text, extensions);
  const parsed = parseBundle(text);
  if (!parsed.ok) return { plans, issues, warnings: [] };
  const all = [...issues, ...expiredWaivers(parsed.bundle, now.toISOString(), parsed.locate)];
  all.sort((a, b) => a.line - b.line || a.column - b.column);
  const compiled = plans.map(({ plan }) => plan);
  if (all.length > 0) return { plans, issues: all, warnings: [] };
  const { bundle, locate } = parsed;
  return {
    plans,
    issues: all,
    warnings: [
      ...traps(bundle, compiled, extensions.validators, locate),
      ...unusedWaivers(bundle, compiled, locate),
      ...unknownTools(bundle, compiled, locate),
    ],
  };
}

/** As `checkBundle`. Throws ConfigError if there is any issue. */
export function checkedPlans(text: string, extensions: Extensions, now: Date): readonly CompiledPlan[] {
  const { plans, issues } = checkBundle(text, extensions, now);
  if (issues.length > 0) throw new ConfigError(invalidBundle(issues));
  return plans;
}

/** What an evaluator is given for one diff. Throws TypeError for an unknown source tool. */
export async function toEvalInput(
  extensions: Extensions,
  sourceTool: string,
  raw: Uint8Array,
  rest: Pick<EvalInput, 'metadata' | 'staging' | 'at' | 'tenant' | 'requester'>,
): Promise<EvalInput> {
  const tool = extensions.sourceTools.get(sourceTool);
  if (tool === undefined)
    throw new TypeError(`sourceTool: expected one of ${extensions.sourceTools.keys().join(', ')}, got "${sourceTool}"`);
  const facts = await tool.facts({ sourceTool, raw, diffSha: sha256Hex(raw), metadata: rest.metadata });
  return { raw, facts, ...rest };
}
