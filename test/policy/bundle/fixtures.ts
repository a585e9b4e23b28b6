import { compilePlan, type Compiled } from '../../../policy/bundle/compile-plan';
import { parseBundle } from '../../../policy/bundle/parse-bundle';
import type { Bundle } from '../../../policy/bundle/schema';
import { judgeDefinition } from '../../../policy/judge/config';
import { BUILTIN_VALIDATORS } from '../../../policy/rules/builtin';
import { callbackRegistry, defineCallback } from '../../../policy/rules/callback';
import type { ValidatorDefinition } from '../../../policy/rules/define';
import { validatorRegistry, type ValidatorRegistry } from '../../../policy/rules/registry';
import {
  alwaysApproveDefinition,
  compositeDefinition,
  ruleValidatorDefinition,
} from '../../../policy/validators/definitions';
import { demoRule } from '../../support/demo-rule';
import { ourTools } from '../../support/source-tools';

export const RULES = [
  demoRule('demo_drop', { sourceTools: ['SQLDryRun'], parser: { name: 'demo', version: '1' } }),
  demoRule('demo_rows', { sourceTools: ['SQLDryRun'], reads: ['staging'], defaultLevel: 'forbid' }),
  demoRule('demo_style', { defaultLevel: 'advise' }),
  demoRule('demo_http', { sourceTools: ['HTTPPatch'] }),
];

export function registryOf(...more: readonly ValidatorDefinition<never>[]): ValidatorRegistry {
  return validatorRegistry([
    ...RULES,
    ruleValidatorDefinition,
    compositeDefinition,
    alwaysApproveDefinition,
    judgeDefinition,
    ...BUILTIN_VALIDATORS,
    ...more,
  ] as never);
}

export const registry = registryOf();

export const callbacks = callbackRegistry([
  defineCallback({ key: 'in-window', version: 'v2', evaluate: () => ({ passed: true, message: null }) }),
]);

export const BASE = `
version: 1
name: Shop
domain: shop
provider: openai
model: gpt-x
targets:
  shop:
    sourceTools: [SQLDryRun, HTTPPatch]
groups:
  dba: { members: [ada, bob, eve] }
  leads: { members: [kim, lee] }
defaultGroup: dba
validators:
  - pack: demo-pack
`;

/** The base with top-level members replaced or added; a member with value '' is removed. */
export function bundleText(members: Readonly<Record<string, string>> = {}): string {
  const parts = BASE.trim()
    .split(/\n(?=\S)/)
    .map((part): [string, string] => [part.slice(0, part.indexOf(':')), part.slice(part.indexOf(':') + 1)]);
  const all = new Map([...parts, ...Object.entries(members)]);
  return [...all]
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${key}:${value.startsWith('\n') ? value : ` ${value.trimStart()}`}`)
    .join('\n');
}

export function bundleOf(members: Readonly<Record<string, string>> = {}): Bundle {
  const parsed = parseBundle(bundleText(members));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues, null, 1));
  return parsed.bundle;
}

export function compile(
  members: Readonly<Record<string, string>> = {},
  sourceTool = 'SQLDryRun',
  own = registry,
): Compiled {
  const parsed = parseBundle(bundleText(members));
  if (!parsed.ok) return { ok: false, issues: parsed.issues };
  return compilePlan(parsed.bundle, own, {
    target: 'shop',
    sourceTool,
    tools: ourTools,
    callbacks,
    locate: parsed.locate,
  });
}

export function planOf(
  members: Readonly<Record<string, string>> = {},
  sourceTool = 'SQLDryRun',
  own = registry,
): Extract<Compiled, { ok: true }> {
  const compiled = compile(members, sourceTool, own);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.issues, null, 1));
  return compiled;
}

/** Messages of a refusal. Throws if the bundle compiles. */
export function refusals(
  members: Readonly<Record<string, string>>,
  sourceTool = 'SQLDryRun',
  own = registry,
): string[] {
  const compiled = compile(members, sourceTool, own);
  if (compiled.ok) throw new Error('compiled');
  for (const issue of compiled.issues)
    if (issue.fix === '' || issue.line < 1 || issue.column < 1) throw new Error(`no help: ${JSON.stringify(issue)}`);
  return compiled.issues.map((issue) => `${issue.line}:${issue.column} ${issue.path}: ${issue.message} | ${issue.fix}`);
}
