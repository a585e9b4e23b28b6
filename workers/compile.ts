import { misconfigured } from '../policy/contracts/failure';
import type { Plan } from '../policy/contracts/plan';
import { compilePlan, planKeys } from '../policy/bundle/compile-plan';
import { parseBundle } from '../policy/bundle/parse-bundle';
import type { Issue } from '../policy/bundle/issue';
import type { Extensions } from './extensions';

/** The plan of one (target, source tool) of a bundle's text. Throws CONFIGURATION_ERROR with line, column and fix of each issue. */
export function compileText(
  text: string,
  extensions: Extensions,
  target: string,
  sourceTool: string,
): { readonly plan: Plan; readonly planHash: string } {
  const parsed = parseBundle(text);
  if (!parsed.ok) throw misconfigured(issuesText(parsed.issues));
  const compiled = compilePlan(parsed.bundle, extensions.validators, {
    target,
    sourceTool,
    tools: extensions.sourceTools,
    callbacks: extensions.callbacks,
    locate: parsed.locate,
  });
  if (!compiled.ok) throw misconfigured(issuesText(compiled.issues));
  return compiled;
}

/** Every plan of the bundle. Throws as `compileText` does, if any plan has an issue. */
export function compileAll(
  text: string,
  extensions: Extensions,
): { readonly target: string; readonly sourceTool: string; readonly plan: Plan; readonly planHash: string }[] {
  const parsed = parseBundle(text);
  if (!parsed.ok) throw misconfigured(issuesText(parsed.issues));
  return planKeys(parsed.bundle).map((key) => ({
    ...key,
    ...compileText(text, extensions, key.target, key.sourceTool),
  }));
}

function issuesText(issues: readonly Issue[]): string {
  return `Invalid policy bundle:\n${issues.map((i) => `  ${i.line}:${i.column} ${i.path}: ${i.message}. ${i.fix}`).join('\n')}`;
}
