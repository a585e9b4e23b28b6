import { z } from 'zod';
import { errorMessage } from '../contracts/error-message';
import { Metadata, Name, type DiffInput } from '../contracts/diff';
import { inputSha } from '../contracts/change-id';
import type { ValidatorFinding } from '../contracts/finding';
import { fires } from '../contracts/readings';
import { sha256Hex } from '../contracts/hash';
import type { Plan, PlanValidator } from '../contracts/plan';
import { StagingRecord, stagingSha } from '../contracts/staging-record';
import { assembleFindings, isHardBlock, type RawOutcome } from '../decide/findings';
import { foldUnread } from '../rules/fold-unread';
import { waiverOf, type Waiving } from '../decide/waivers';
import { cardinalityOf, matchPolicies } from '../decide/violations';
import type { SourceTool, SourceTools } from '../contracts/source-tool';
import { changeEvaluator } from '../rules/evaluate';
import type { Facts } from '../contracts/facts';
import type { ValidatorRegistry } from '../rules/registry';
import { planProblems } from './check-plan';

/**
 * Outcome of a plan for one diff without server, people or model: the core of `countersign policy eval`, `test` and
 * `explain`. Attested validators never run here, and those that need the dry run only if its record is given. Validators
 * that did not run are listed in `skipped` and do not affect the outcome.
 */
type EvalOutcome = 'COMMIT' | 'CONFIRM' | 'FORBID';

export interface EvalInput {
  readonly raw: Uint8Array;
  readonly metadata: Metadata;
  readonly facts: Facts;
  readonly staging: StagingRecord | null;
  /** Time for the expiry of waivers, ISO 8601; null: no waiver applies. */
  readonly at: string | null;
  /** For the scope of waivers. Default: the tenant `eval`, and no requester. */
  readonly tenant?: string;
  readonly requester?: string | null;
}

export interface Evaluation {
  readonly outcome: EvalOutcome;
  /** Findings in declared order, without those in `unread`. */
  readonly findings: readonly ValidatorFinding[];
  /** Ids of validators that could not read the diff, as one of the findings says (`foldUnread`). */
  readonly unread: readonly string[];
  /** Ids of validators that cannot run here. */
  readonly skipped: readonly string[];
  /** Findings that a waiver lets through; not counted as ALLOW. */
  readonly waived: readonly { readonly waiverId: string; readonly validatorId: string }[];
  /** Findings of shadow validators that fired. They do not affect the outcome and are not part of a review. */
  readonly shadow: readonly ValidatorFinding[];
  /** What validators threw, by id, with stacks. It may quote the diff, so it is for the author of a rule only. */
  readonly thrown: Readonly<Record<string, string>>;
}

const EVAL_TENANT = 'eval';

/** Checks the plan once, then evaluates any number of diffs. Throws TypeError if this process cannot run the plan. */
export function planEvaluator(
  plan: Plan,
  registry: ValidatorRegistry,
  tools: SourceTools,
): (input: EvalInput) => Evaluation {
  const tool = tools.get(plan.sourceTool);
  if (tool === undefined) throw new TypeError(`This process has no source tool "${plan.sourceTool}"`);
  const problems = planProblems(plan, registry, tools);
  if (problems.length > 0) throw new TypeError(`This process cannot run the plan: ${problems.join('; ')}`);
  return (input) => evaluateDiff(plan, registry, tool, input);
}

function evaluateDiff(
  plan: Plan,
  registry: ValidatorRegistry,
  tool: SourceTool,
  { raw, metadata, facts, staging, at, tenant = EVAL_TENANT, requester = null }: EvalInput,
): Evaluation {
  const { target, sourceTool } = plan;
  const diff: DiffInput = { sourceTool, raw, diffSha: sha256Hex(raw), metadata };
  const input = inputSha({ tenant, target, sourceTool, diffSha: diff.diffSha, metadata });
  // No review exists. Use the input hash as the change id of findings that refer to a review.
  const staged = staging === null ? null : { record: staging, sha: stagingSha(staging) };
  const thrown: Record<string, string> = {};
  const evaluate = changeEvaluator({
    changeId: input,
    inputSha: input,
    diff,
    facts,
    tool,
    staging: staged,
    onThrow: (id, error) => (thrown[id] = error instanceof Error ? (error.stack ?? String(error)) : String(error)),
  });
  const runs = (validator: PlanValidator): boolean =>
    validator.kind === 'derived' && (!validator.needsStaging || staging !== null);
  const assemble = (validators: readonly PlanValidator[], waiving: Waiving | null): ValidatorFinding[] => {
    const outcomes = new Map<string, RawOutcome>();
    for (const validator of validators) {
      const definition = registry.get(validator.implementation);
      if (definition === undefined || definition.evaluate === null) continue; // assembleFindings adds or reports it
      outcomes.set(validator.id, { kind: 'result', result: evaluate(definition, validator) });
    }
    return assembleFindings({ plan: { ...plan, validators: [...validators] }, changeId: input, outcomes, waiving });
  };
  const context = { tenant, target, sourceTool, requester, inputSha: input };
  const part = { ...plan, validators: plan.validators.filter(runs) };
  const all = assemble(part.validators, at === null ? null : { context, at });
  const { shown: findings, unread } = foldUnread(all);
  const reported = new Set(all.map(({ validator_id: id }) => id));
  return {
    outcome: outcomeOf(part, all, staging),
    findings,
    unread: unread.map(({ validator_id: id }) => id),
    skipped: plan.validators.map(({ id }) => id).filter((id) => !reported.has(id)),
    waived: findings.flatMap((finding) => {
      const waiver = waiverOf(finding);
      return waiver === null ? [] : [{ waiverId: waiver.id, validatorId: finding.validator_id }];
    }),
    shadow: assemble(plan.shadow.filter(runs), null).filter(fires),
    thrown,
  };
}

/** FORBID: rolled back without asking anyone. CONFIRM: a person or a callback decides. */
function outcomeOf(plan: Plan, findings: readonly ValidatorFinding[], staging: StagingRecord | null): EvalOutcome {
  if (findings.some(isHardBlock)) return 'FORBID';
  const triggered = matchPolicies(plan, findings, cardinalityOf(staging));
  const hard = triggered.some(({ policyKey }) => {
    const policy = plan.policies.find((p) => p.key === policyKey);
    return policy !== undefined && !policy.requiresConfirmation && policy.callback === null;
  });
  if (hard) return 'FORBID';
  return triggered.length > 0 || findings.some((f) => f.class === 'POLICY' && fires(f)) ? 'CONFIRM' : 'COMMIT';
}

/** One line of `policy eval --jsonl`. */
const EvalLine = z
  .strictObject({
    id: z.string().max(1000),
    sourceTool: Name,
    raw: z.string().optional(),
    rawBase64: z.base64().optional(),
    metadata: Metadata.default({}),
    staging: StagingRecord.optional(),
    at: z.iso.datetime().optional(),
  })
  .refine(
    (line) => (line.raw === undefined) !== (line.rawBase64 === undefined),
    'expected either "raw" or "rawBase64"',
  );
type EvalLine = z.infer<typeof EvalLine>;

type ReadLine =
  | { readonly ok: true; readonly line: EvalLine }
  | { readonly ok: false; readonly id: string | null; readonly error: string };

/** Parses one line. Never throws, so that the caller can report an invalid line and continue. `id` is null if unreadable. */
export function readEvalLine(text: string): ReadLine {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    return {
      ok: false,
      id: null,
      error: `not JSON: ${errorMessage(error)}`.slice(0, 500),
    };
  }
  const parsed = EvalLine.safeParse(data);
  if (parsed.success) return { ok: true, line: parsed.data };
  const id = typeof data === 'object' && data !== null && 'id' in data && typeof data.id === 'string' ? data.id : null;
  return {
    ok: false,
    id,
    error: parsed.error.issues
      .map((issue) => `${issue.path.join('.') || 'line'}: ${issue.message}`)
      .join('; ')
      .slice(0, 500),
  };
}
