import { sha256Hex } from '../../policy/contracts/hash';
import { planHash, type Plan, type PlanValidator } from '../../policy/contracts/plan';
import { configOfPlan, judgeDefinition, JUDGE_IMPLEMENTATION, type JudgeConfig } from '../../policy/judge/config';
import type { DiffRenderer, SourceTool } from '../../policy/contracts/source-tool';
import { definitionHash } from '../../policy/rules/definition-hash';
import { digestMismatch, misconfigured, policyMoved } from '../../policy/contracts/failure';
import type { JudgeInput } from '../review-types';
import { assertPlanOf, type OpenedChange } from '../review/opened-change';
import type { JudgeDeps } from './judge-deps';
import { unreadableDiff } from './judge-failures';

/** The change that a judge is asked about. `stagingSha` is what the workflow received; the committer compares it with the rows. */
export type JudgedChange = OpenedChange & Pick<JudgeInput, 'stagingSha' | 'validatorId'>;

/** The judge of a plan, and the bytes of a change whose hashes were verified. */
export interface ResolvedJudge {
  readonly validator: PlanValidator;
  readonly config: JudgeConfig;
  readonly renderer: DiffRenderer;
  readonly raw: Uint8Array;
  /** Metadata members that become part of the effect: the judge sees them regardless of the plan. */
  readonly effectMembers: readonly string[];
}

/** Recomputes the hashes of plan and bytes. Call it before anything is sent to a model. */
export async function resolveJudge(
  deps: Pick<JudgeDeps, 'loadPlan' | 'store' | 'tools'>,
  change: JudgedChange,
): Promise<ResolvedJudge> {
  const tool = deps.tools.get(change.sourceTool);
  if (tool === undefined) {
    throw unreadableDiff(
      'unknown_source_tool',
      `no renderer for diffs of "${change.sourceTool}"; expected one of: ${deps.tools.keys().join(', ')}`,
    );
  }
  const plan = await deps.loadPlan(change.planHash);
  const loaded = hashOf(plan);
  if (loaded !== change.planHash) throw digestMismatch('planHash', change.planHash, loaded);
  assertPlanOf(change, plan);
  const validator = plan.validators.find((v) => v.id === change.validatorId);
  if (validator?.implementation !== JUDGE_IMPLEMENTATION)
    throw misconfigured(`The plan has no judge "${change.validatorId}"`);
  const config = verifiedConfig(validator, loaded, tool);

  const raw = await deps.store.get(change.tenant, change.diffSha);
  const digest = sha256Hex(raw);
  if (digest !== change.diffSha) throw digestMismatch('diffSha', change.diffSha, digest);
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
