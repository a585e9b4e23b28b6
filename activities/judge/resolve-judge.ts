import { inputSha } from '../../policy/contracts/change-id';
import { planHash, type Plan, type PlanValidator } from '../../policy/contracts/plan';
import { configOfPlan, judgeDefinition, JUDGE_IMPLEMENTATION, type JudgeConfig } from '../../policy/judge/config';
import type { DiffRenderer, SourceTool } from '../../policy/contracts/source-tool';
import { definitionHash } from '../../policy/rules/definition-hash';
import { digestMismatch, misconfigured, policyMoved } from '../../policy/contracts/failure';
import type { JudgeInput } from '../review-types';
import type { JudgeDeps } from './judge-deps';
import { sha256Of } from './digest';
import { unreadableDiff } from './judge-failures';

/** The judge of a plan, and the bytes of a change whose hashes were verified. */
export interface ResolvedJudge {
  readonly validator: PlanValidator;
  readonly config: JudgeConfig;
  readonly renderer: DiffRenderer;
  readonly raw: Uint8Array;
  /** Metadata members that become part of the effect: the judge sees them whatever the plan says. */
  readonly effectMembers: readonly string[];
}

/** Recomputes every hash that `input` claims. Call it before anything is sent to a model. */
export async function resolveJudge(
  deps: Pick<JudgeDeps, 'loadPlan' | 'store' | 'tools'>,
  input: JudgeInput,
): Promise<ResolvedJudge> {
  const tool = deps.tools.get(input.sourceTool);
  if (tool === undefined) {
    throw unreadableDiff(
      'unknown_source_tool',
      `no renderer for diffs of "${input.sourceTool}"; expected one of: ${deps.tools.keys().join(', ')}`,
    );
  }
  const expected = inputSha(input);
  if (expected !== input.inputSha) throw digestMismatch('inputSha', expected, input.inputSha);

  const plan = await deps.loadPlan(input.planHash);
  const loaded = hashOf(plan);
  if (loaded !== input.planHash) throw digestMismatch('planHash', input.planHash, loaded);
  if (plan.target !== input.target || plan.sourceTool !== input.sourceTool) {
    throw misconfigured(
      `The plan is for ${plan.target}/${plan.sourceTool}, but the change is for ${input.target}/${input.sourceTool}`,
    );
  }
  const validator = plan.validators.find((v) => v.id === input.validatorId);
  if (validator?.implementation !== JUDGE_IMPLEMENTATION)
    throw misconfigured(`The plan has no judge "${input.validatorId}"`);
  const config = verifiedConfig(validator, loaded, tool);

  const raw = await deps.store.get(input.tenant, input.diffSha);
  const digest = sha256Of(raw);
  if (digest !== input.diffSha) throw digestMismatch('diffSha', input.diffSha, digest);
  return { validator, config, renderer: tool.render, raw, effectMembers: Object.keys(tool.effectMetadata.members) };
}

/** Hashes of compiled plans, which are deeply frozen and live as long as their process. */
const hashes = new WeakMap<Plan, string>();

function hashOf(plan: Plan): string {
  const hash = hashes.get(plan) ?? planHash(plan);
  if (Object.isFrozen(plan)) hashes.set(plan, hash);
  return hash;
}

const MAX_CONFIGS = 200;
/** Memoized by plan hash and validator id. Safe because the plan's hash was recomputed before. */
const configs = new Map<string, JudgeConfig>();

/** The judge's config. Fails with `policy_moved` if this process has another judge logic than the plan was compiled with. */
function verifiedConfig(validator: PlanValidator, verifiedPlanHash: string, tool: SourceTool): JudgeConfig {
  const key = `${verifiedPlanHash}/${validator.id}`;
  const known = configs.get(key);
  if (known !== undefined) return known;
  if (definitionHash(judgeDefinition, validator, tool) !== validator.logic_hash)
    throw policyMoved(`${validator.id}: the plan was compiled with another revision of the judge than this worker has`);
  const read = configOfPlan(validator.config);
  if (!read.ok) throw policyMoved(`${validator.id}: ${read.explanation}`);
  if (configs.size >= MAX_CONFIGS) configs.clear();
  configs.set(key, read.config);
  return read.config;
}
