import type { Sha256 } from '../contracts/hash';
import { errorMessage } from '../contracts/error-message';
import { Plan, planHash, type PlanValidator, type Waiver } from '../contracts/plan';
import type { z } from 'zod';
import { DECIDE_REVISION } from '../decide/decide';
import { JUDGE_ID } from '../judge/config';
import { BUILTIN_UNIT, BUILTIN_VALIDATORS, builtinsOf } from '../rules/builtin';
import type { CallbackRegistry } from '../rules/callback';
import type { SourceTool } from '../contracts/source-tool';
import { definitionHash } from '../rules/definition-hash';
import { deepFreeze } from '../rules/deep-freeze';
import { frozenRegistry } from '../contracts/registry';
import type { ValidatorRegistry } from '../rules/registry';
import { ALWAYS_APPROVE } from '../validators/always-approve';
import { toMs } from '../contracts/duration';
import { candidatesFor, expandEntries, type Candidate } from './expand';
import { didYouMean, fromZod, NOWHERE, problem, toIssues, type Issue, type Locate, type Problem } from './issue';
import { classOf, idOf, prefixProblem } from './level';
import { orphanIssues } from './orphans';
import { isWithin, toolsOf, type PlanKey } from './plan-keys';
import type { Bundle, BundlePolicy } from './schema';
import { conditionIssues, targetToolIssues, type Tools } from './tool-issues';

export interface CompileOptions {
  readonly target: string;
  readonly sourceTool: string;
  /** All that this process has: the readers of the plan's own tool are part of what the plan's validators are hashed over. */
  readonly tools: Tools;
  /** Callbacks that a policy may name. Absent: none. */
  readonly callbacks?: CallbackRegistry;
  /** `locate` of `parseBundle`, so that issues have line and column. */
  readonly locate?: Locate;
}

export type Compiled =
  | { readonly ok: true; readonly plan: Plan; readonly planHash: Sha256 }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Compiles the plan of one (target, source tool): a frozen deep copy, so that later changes to the bundle do not affect it.
 *
 * P1 Refuses unknown names, wrong versions and duplicates here, before any change is evaluated.
 * P2 Keeps the declared order of the validators, followed by the built-in ones.
 * P3 Excludes what the bundle declares for other targets or tools, so that the plan's hash changes only with what affects
 *    its decisions. Those parts are checked nevertheless.
 */
export function compilePlan(bundle: Bundle, registry: ValidatorRegistry, options: CompileOptions): Compiled {
  const refuse = (problems: readonly Problem[]): Compiled => ({
    ok: false,
    issues: toIssues(problems, options.locate ?? NOWHERE),
  });
  const { target: targetName, sourceTool } = options;
  const target = Object.hasOwn(bundle.targets, targetName) ? bundle.targets[targetName] : undefined;
  if (target === undefined)
    return refuse([
      problem(['targets'], `Unknown target "${targetName}"`, didYouMean(targetName, Object.keys(bundle.targets))),
    ]);
  if (!target.sourceTools.includes(sourceTool)) {
    const fix = `${didYouMean(sourceTool, target.sourceTools)} Or add it to targets.${targetName}.sourceTools.`;
    return refuse([
      problem(
        ['targets', targetName, 'sourceTools'],
        `Target "${targetName}" does not accept diffs of "${sourceTool}"`,
        fix,
      ),
    ]);
  }
  const issues = targetToolIssues(bundle, targetName, sourceTool, options.tools);
  const tool = options.tools.get(sourceTool);
  if (tool === undefined) return refuse(issues);
  const expansions = expandEntries(bundle, registry);
  const candidates = candidatesFor(expansions, { target: targetName, sourceTool });
  const accepted = toolsOf(bundle).flatMap((name) => options.tools.get(name) ?? []);
  const made = candidates.map((candidate) => toPlanValidator(candidate, tool));
  issues.push(
    ...expansions.flatMap((expansion) => expansion.issues),
    ...duplicateIssues(candidates, targetName),
    ...builtinIssues(registry),
    ...orphanIssues(bundle, expansions, options.callbacks ?? frozenRegistry('Callback', [])),
    ...conditionIssues(candidates, tool, accepted),
    ...made.flatMap((m) => m.issues),
  );
  const own = made.flatMap(({ validator }) => (validator === null ? [] : [validator]));
  if (issues.length === 0 && own.every(({ level }) => level === 'shadow'))
    issues.push(noValidatorReads(targetName, sourceTool, own.length > 0));
  return issues.length > 0 ? refuse(issues) : planOf(bundle, target, options, tool, own);
}

/** Builds the plan from valid parts. `own`: its validators without the built-in ones, in declared order. */
function planOf(
  bundle: Bundle,
  target: Bundle['targets'][string],
  { target: targetName, sourceTool }: CompileOptions,
  tool: SourceTool,
  own: readonly PlanValidator[],
): Compiled {
  const key = { target: targetName, sourceTool };
  const enforced = own.filter((validator) => validator.level !== 'shadow');
  const waivers = bundle.waivers.filter((waiver) => waives(waiver, key, enforced)).map(toPlanWaiver);
  const validators = [...enforced, ...builtinsOf({ waivers }).map((d) => builtinPlanValidator(d, tool))];
  const policies = bundle.policies
    .filter((policy) => concerns(policy, key, validators))
    .map((policy) => toPlanPolicy(policy, bundle));
  const implicitPolicy = need(bundle.implicit, bundle);
  const plan = Plan.safeParse({
    decideRevision: DECIDE_REVISION,
    domain: bundle.domain,
    provider: bundle.provider,
    model: bundle.model,
    mode: target.cooperative.includes(sourceTool) ? 'cooperative' : 'enforced',
    target: targetName,
    sourceTool,
    development: target.development,
    inlineBytes: target.inlineBytes,
    answers: target.answers,
    judgeWhen: bundle.judgeWhen,
    onJudgeFailure: bundle.onJudgeFailure,
    autoResolve: bundle.autoResolve,
    commitWindowMs: toMs(bundle.commitWindow),
    staging: target.staging,
    validators,
    shadow: own.filter((validator) => validator.level === 'shadow'),
    policies,
    implicitPolicy,
    groups: groupsOf(bundle, [implicitPolicy.group, ...policies.map((policy) => policy.group)]),
    waivers,
  });
  if (!plan.success) return { ok: false, issues: toIssues(fromZod(plan.error, null, []), NOWHERE) };
  const copy = deepFreeze(structuredClone(plan.data));
  return { ok: true, plan: copy, planHash: planHash(copy) };
}

function toPlanValidator(
  candidate: Candidate,
  tool: SourceTool,
): { readonly validator: PlanValidator | null; readonly issues: readonly Problem[] } {
  const { definition, configPath, path } = candidate;
  const config = definition.config.safeParse(candidate.config);
  if (!config.success) {
    const keys = Object.keys((definition.config as { shape?: object }).shape ?? {});
    return { validator: null, issues: fromZod(config.error, candidate.config, keys, configPath) };
  }
  const hookClass = classOf(candidate.level);
  const wrongPrefix = prefixProblem(candidate.id, hookClass);
  if (wrongPrefix !== null) return { validator: null, issues: [problem(path, wrongPrefix, 'Rename the validator.')] };
  try {
    return { validator: planValidator(candidate, config.data as PlanValidator['config'], tool), issues: [] };
  } catch (error) {
    const message = `The settings cannot be hashed: ${errorMessage(error)}`;
    return { validator: null, issues: [problem(configPath, message, 'Use JSON values only.')] };
  }
}

function planValidator(
  { id, unit, definition, level, phase }: Omit<Candidate, 'config' | 'path' | 'configPath' | 'limits'>,
  config: PlanValidator['config'],
  tool: SourceTool,
): PlanValidator {
  const { version, logicRevision, implementation, kind } = definition;
  return {
    id,
    version,
    class: classOf(level),
    level,
    phase,
    kind,
    unit,
    implementation,
    needsStaging: definition.reads.includes('staging'),
    config,
    logicRevision,
    logic_hash: definitionHash(definition, { id, config }, tool),
  };
}

function builtinPlanValidator(definition: (typeof BUILTIN_VALIDATORS)[number], tool: SourceTool): PlanValidator {
  const { defaultLevel: level, implementation, phase } = definition;
  const id = idOf(level, implementation);
  return planValidator({ id, unit: BUILTIN_UNIT, definition: definition as never, level, phase }, {}, tool);
}

/** Validators with the same name, and entries with the same unit name. */
function duplicateIssues(candidates: readonly Candidate[], target: string): Problem[] {
  const issues: Problem[] = [];
  const ids = new Set(BUILTIN_VALIDATORS.map((definition) => idOf(definition.defaultLevel, definition.implementation)));
  const names = new Set<string>();
  const units = new Map<string, string>([[BUILTIN_UNIT, '']]);
  const repeated = new Set<string>();
  for (const { id, unit, path, definition } of candidates) {
    const name = id.slice(id.indexOf('.') + 1);
    const entry = path.slice(0, 2).join('/');
    const isTaken = units.has(unit) && units.get(unit) !== entry;
    if (isTaken && unit === definition.pack) {
      // One issue for all its rules.
      if (!repeated.has(entry))
        issues.push(
          problem(
            [...path.slice(0, 2), 'pack'],
            `The pack "${unit}" is listed twice for target "${target}"`,
            'List it once, or limit the entries to different "targets".',
          ),
        );
      repeated.add(entry);
    } else if (id === JUDGE_ID && ids.has(id)) issues.push(problem(path, 'Duplicate judge', 'Keep one judge entry.'));
    else if (ids.has(id) || names.has(name))
      issues.push(
        problem(
          path,
          `Duplicate validator "${id}" for target "${target}"`,
          'Remove one of the two, set the rule to "off" in one of them, or give it a unique name.',
        ),
      );
    else if (isTaken)
      issues.push(problem(path, `Another entry already uses the name "${unit}"`, 'Give this entry another name.'));
    ids.add(id);
    names.add(name);
    if (!units.has(unit)) units.set(unit, entry);
  }
  return issues;
}

/** Built-in validators that the registry lacks: a worker without them cannot run any plan. */
function builtinIssues(registry: ValidatorRegistry): Problem[] {
  return BUILTIN_VALIDATORS.flatMap(({ implementation }) =>
    registry.get(implementation) === undefined
      ? [
          problem(
            ['validators'],
            `The registry lacks the built-in validator "${implementation}"`,
            'Register BUILTIN_VALIDATORS with your own.',
          ),
        ]
      : [],
  );
}

function noValidatorReads(target: string, sourceTool: string, shadowOnly: boolean): Problem {
  const but = shadowOnly ? ': all of them have level "shadow"' : '';
  return problem(
    ['validators'],
    `No enforced validator reads diffs of "${sourceTool}" for target "${target}"${but}`,
    `Add a validator that reads them; to opt out explicitly, write "- ${ALWAYS_APPROVE}: {reason: …}".`,
  );
}

/** False for a policy that no validator of this plan can trigger. */
function concerns({ match }: BundlePolicy, key: PlanKey, validators: readonly PlanValidator[]): boolean {
  const { validatorIds } = match;
  if (!isWithin(match, key)) return false;
  return validatorIds === undefined || validators.some((validator) => validatorIds.includes(validator.id));
}

function need(of: Bundle['implicit'], bundle: Bundle): Plan['implicitPolicy'] {
  const { group = bundle.defaultGroup, quorum, fourEyes, deadline = bundle.deadline, confirmationMessage } = of;
  return { group, quorum, fourEyes, deadlineMs: toMs(deadline), confirmationMessage };
}

function toPlanPolicy(policy: BundlePolicy, bundle: Bundle): Plan['policies'][number] {
  const { key, name, requiresConfirmation, triggerCardinality, callback, metadata } = policy;
  const { targets: _targets, ...match } = policy.match; // The plan has one target.
  return { key, name, match, requiresConfirmation, triggerCardinality, callback, metadata, ...need(policy, bundle) };
}

function groupsOf(bundle: Bundle, names: readonly string[]): Plan['groups'] {
  return Object.fromEntries(
    [...new Set(names)].map((name) => [name, { members: [...(bundle.groups[name]?.members ?? [])] }]),
  );
}

function waives(waiver: Bundle['waivers'][number], key: PlanKey, validators: readonly PlanValidator[]): boolean {
  return isWithin(waiver.scope, key) && validators.some((validator) => validator.id === waiver.validatorId);
}

function toPlanWaiver({ id, validatorId, reason, expires, scope }: Bundle['waivers'][number]): z.infer<typeof Waiver> {
  return { id, validatorId, reason, expiresAt: expires, scope: scope as z.infer<typeof Waiver>['scope'] };
}
