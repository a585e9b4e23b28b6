import type { Plan, PlanValidator } from '../contracts/plan';
import { DECIDE_REVISION } from '../decide/decide';
import { BUILTIN_UNIT, builtinsOf } from '../rules/builtin';
import type { SourceTool, SourceTools } from '../contracts/source-tool';
import { resolveValidator } from '../rules/evaluate';
import type { ValidatorRegistry } from '../rules/registry';
import { classOf, idOf, prefixProblem } from './level';

/**
 * Lists why this process cannot run a plan that another process compiled; empty if it can. Call it before any other work
 * on the plan. Checks that ids are unique and registered, version and logic_hash equal those of this process, the class
 * matches level and id prefix, and the built-in validators are complete and last.
 */
export function planProblems(plan: Plan, registry: ValidatorRegistry, tools: SourceTools): string[] {
  const tool = tools.get(plan.sourceTool);
  const all = [...plan.validators, ...plan.shadow];
  const problems = [
    ...all.flatMap((validator) => validatorProblems(validator, registry, tool)),
    ...repeatedIds(plan.validators),
    ...builtinProblems(plan),
  ];
  if (plan.decideRevision !== DECIDE_REVISION)
    problems.push(`The plan requires decide revision ${plan.decideRevision}, but this process has ${DECIDE_REVISION}`);
  if (plan.answers === 'unsigned' && !plan.development)
    problems.push('The plan accepts unsigned answers for a target that is not marked as development');
  return problems;
}

function validatorProblems(
  validator: PlanValidator,
  registry: ValidatorRegistry,
  tool: SourceTool | undefined,
): string[] {
  const problems: string[] = [];
  const prefix = prefixProblem(validator.id, validator.class);
  if (prefix !== null) problems.push(prefix);
  if (validator.class !== classOf(validator.level))
    problems.push(
      `${validator.id}: level ${validator.level} requires class ${classOf(validator.level)}, got ${validator.class}`,
    );
  const resolved = resolveValidator(registry, validator, tool);
  if (!resolved.ok) problems.push(resolved.explanation);
  else if (resolved.definition.kind !== validator.kind)
    problems.push(
      `${validator.id}: the plan has kind ${validator.kind}, but this process has kind ${resolved.definition.kind}`,
    );
  else if (resolved.definition.reads.includes('staging') !== validator.needsStaging)
    problems.push(`${validator.id}: the plan and this process disagree on whether it needs the dry run`);
  return problems;
}

function repeatedIds(validators: readonly PlanValidator[]): string[] {
  const ids = validators.map((validator) => validator.id);
  return ids.flatMap((id, i) => (ids.indexOf(id) === i ? [] : [`Duplicate validator ${id}`]));
}

function builtinProblems(plan: Plan): string[] {
  const expected = builtinsOf(plan).map(({ defaultLevel, implementation }) => idOf(defaultLevel, implementation));
  const last = plan.validators.slice(-expected.length).map((validator) => validator.id);
  const complete = last.length === expected.length && last.every((id, i) => id === expected[i]);
  const own = plan.validators.filter((validator) => validator.unit !== BUILTIN_UNIT);
  return [
    ...(complete ? [] : [`The plan does not end with the built-in validators ${expected.join(', ')}`]),
    ...(own.length > 0 ? [] : ['The plan has no validators besides the built-in ones']),
  ];
}
