import { misconfigured } from '../policy/contracts/failure';
import type { Plan } from '../policy/contracts/plan';
import { compilePlan } from '../policy/bundle/compile-plan';
import { planKeys } from '../policy/bundle/plan-keys';
import { parseBundle } from '../policy/bundle/parse-bundle';
import type { Issue } from '../policy/bundle/issue';
import { ConfigError } from './config-error';
import type { Extensions } from './extensions';

export interface CompiledPlan {
  readonly target: string;
  readonly sourceTool: string;
  readonly plan: Plan;
  readonly planHash: string;
}

type Parsed = Extract<ReturnType<typeof parseBundle>, { readonly ok: true }>;

/** The plan of one (target, source tool) of a bundle's text. Throws CONFIGURATION_ERROR with line, column and fix of each issue. */
export function compileText(
  text: string,
  extensions: Extensions,
  target: string,
  sourceTool: string,
): { readonly plan: Plan; readonly planHash: string } {
  const parsed = parseBundle(text);
  if (!parsed.ok) throw misconfigured(invalidBundle(parsed.issues));
  const compiled = compileOne(parsed, extensions, { target, sourceTool });
  if (!compiled.ok) throw misconfigured(invalidBundle(compiled.issues));
  return compiled;
}

/** Compiles every plan of a bundle; reports each issue once, even if several plans have it. */
export function compileBundle(
  text: string,
  extensions: Extensions,
): { readonly plans: readonly CompiledPlan[]; readonly issues: readonly Issue[] } {
  const parsed = parseBundle(text);
  if (!parsed.ok) return { plans: [], issues: parsed.issues };
  const plans: CompiledPlan[] = [];
  const issues = new Map<string, Issue>();
  for (const key of planKeys(parsed.bundle)) {
    const compiled = compileOne(parsed, extensions, key);
    if (compiled.ok) plans.push({ ...key, ...compiled });
    else for (const issue of compiled.issues) issues.set(JSON.stringify(issue), issue);
  }
  return { plans, issues: [...issues.values()] };
}

/** Every plan of the bundle. Throws ConfigError with line, column and fix of each issue. */
export function compileAll(text: string, extensions: Extensions): readonly CompiledPlan[] {
  const { plans, issues } = compileBundle(text, extensions);
  if (issues.length > 0) throw new ConfigError(invalidBundle(issues));
  return plans;
}

function compileOne(
  { bundle, locate }: Parsed,
  extensions: Extensions,
  key: { readonly target: string; readonly sourceTool: string },
): ReturnType<typeof compilePlan> {
  const { validators, sourceTools: tools, callbacks } = extensions;
  return compilePlan(bundle, validators, { ...key, tools, callbacks, locate });
}

export function invalidBundle(issues: readonly Issue[]): string {
  return `Invalid policy bundle:\n${issuesText(issues)}`;
}

export function issuesText(issues: readonly Issue[]): string {
  return issues
    .map((i) => `  ${i.line}:${i.column}${i.path === '' ? '' : ` ${i.path}`}: ${i.message}. ${i.fix}`)
    .join('\n');
}
