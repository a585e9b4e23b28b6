import type { ValidatorFinding } from '../contracts/finding';
import { fires } from '../contracts/readings';
import type { Plan, PlanValidator } from '../contracts/plan';
import type { StagingRecord } from '../contracts/staging-record';
import { WAIVED, waiverOf } from '../decide/waivers';
import { cardinalityOf, IMPLICIT_POLICY, matchPolicies } from '../decide/violations';
import type { Facts, Span } from '../contracts/facts';
import type { ValidatorRegistry } from '../rules/registry';
import type { Evaluation } from './evaluate';

/** A place that a finding refers to. Line and column start at 1; `region` is null for a pointer or a place outside the diff. */
interface ExplainedPlace {
  readonly ref: string;
  readonly region: Span | null;
}

/** A policy that a finding triggers, which says who answers. */
interface ExplainedPolicy {
  readonly key: string;
  readonly requiresConfirmation: boolean;
  readonly callback: string | null;
  readonly group: string;
  readonly quorum: number;
  readonly deadlineMs: number;
}

/** One finding that fired or was waived, with its rule and the policies that it triggers. */
export interface ExplainedFinding {
  readonly validatorId: string;
  readonly class: string;
  readonly level: string;
  readonly status: string;
  readonly reason: string;
  readonly reasonCode: string | null;
  readonly rule: string;
  readonly version: string;
  readonly why: string;
  readonly docs: string;
  /** The parts of the change that the validator reads. */
  readonly reads: readonly string[];
  readonly places: readonly ExplainedPlace[];
  /** Empty if no one is asked. */
  readonly policies: readonly ExplainedPolicy[];
  readonly waiver: { readonly id: string; readonly reason: string; readonly expiresAt: string } | null;
  /** The stack of what the rule threw. Absent if it threw nothing. */
  readonly thrown?: string;
}

export interface Explanation {
  readonly outcome: Evaluation['outcome'];
  readonly target: string;
  readonly sourceTool: string;
  readonly facts: { readonly kind: string } | { readonly refused: string; readonly message: string };
  readonly findings: readonly ExplainedFinding[];
  /** Ids of validators that could not read the diff, as one of the findings says. */
  readonly unread: readonly string[];
  readonly skipped: readonly string[];
  /** Findings of shadow validators, which do not affect the outcome. */
  readonly shadow: readonly ExplainedFinding[];
}

/** Explains each finding of a diff: its rule, what the rule reads, the places, who would answer, and the waiver. Pure. */
export function explain(
  plan: Plan,
  registry: ValidatorRegistry,
  evaluation: Evaluation,
  given: { readonly facts: Facts; readonly staging: StagingRecord | null },
): Explanation {
  const asked = policiesOf(plan, evaluation.findings, given.staging);
  const of = (validators: readonly PlanValidator[]) => (finding: ValidatorFinding) =>
    explained(finding, validators, registry, {
      policies: asked.get(finding.validator_id) ?? [],
      thrown: evaluation.thrown[finding.validator_id],
    });
  const reported = evaluation.findings.filter((finding) => fires(finding) || finding.reasonCode === WAIVED);
  return {
    outcome: evaluation.outcome,
    target: plan.target,
    sourceTool: plan.sourceTool,
    facts: given.facts.ok ? { kind: given.facts.kind } : { refused: given.facts.code, message: given.facts.message },
    findings: reported.map(of(plan.validators)),
    unread: evaluation.unread,
    skipped: evaluation.skipped,
    shadow: evaluation.shadow.map(of(plan.shadow)),
  };
}

function policiesOf(
  plan: Plan,
  findings: readonly ValidatorFinding[],
  staging: StagingRecord | null,
): ReadonlyMap<string, readonly ExplainedPolicy[]> {
  const asked = new Map<string, ExplainedPolicy[]>();
  for (const { findingIndex, policyKey, callback } of matchPolicies(plan, findings, cardinalityOf(staging))) {
    const policy = plan.policies.find(({ key }) => key === policyKey);
    const { group, quorum, deadlineMs } = policy ?? plan.implicitPolicy;
    const id = findings[findingIndex]?.validator_id ?? '';
    const one = {
      key: policyKey,
      requiresConfirmation: policyKey === IMPLICIT_POLICY || policy?.requiresConfirmation === true,
      callback: callback?.key ?? null,
      group,
      quorum,
      deadlineMs,
    };
    asked.set(id, [...(asked.get(id) ?? []), one]);
  }
  return asked;
}

function explained(
  finding: ValidatorFinding,
  validators: readonly PlanValidator[],
  registry: ValidatorRegistry,
  { policies, thrown }: { readonly policies: readonly ExplainedPolicy[]; readonly thrown: string | undefined },
): ExplainedFinding {
  const validator = validators.find(({ id }) => id === finding.validator_id);
  const definition = registry.get(validator?.implementation ?? '');
  return {
    validatorId: finding.validator_id,
    class: finding.class,
    level: validator?.level ?? '',
    status: finding.errorClass === undefined ? finding.status : 'ERROR',
    reason: finding.reason,
    reasonCode: finding.reasonCode ?? null,
    rule: validator?.implementation ?? '',
    version: validator === undefined ? '' : `${validator.version}, revision ${validator.logicRevision}`,
    why: definition?.why ?? '',
    docs: definition?.docs ?? '',
    reads: definition?.reads ?? [],
    places: finding.evidenceRefs.map((ref) => ({ ref, region: regionOf(ref) })),
    policies,
    waiver: waiverOf(finding),
    ...(thrown === undefined ? {} : { thrown }),
  };
}

function regionOf(ref: string): Span | null {
  const match = /^diff:[0-9a-f]{64}#L(\d+):C(\d+)-L(\d+):C(\d+)$/.exec(ref);
  if (match === null) return null;
  const [, startLine, startColumn, endLine, endColumn] = match.map(Number) as [number, number, number, number, number];
  return { startLine, startColumn, endLine, endColumn };
}
