import type { ValidatorFinding } from '../contracts/finding';
import { fires } from '../contracts/readings';
import type { Plan } from '../contracts/plan';
import { MAX_REASON_LENGTH } from '../contracts/limits';
import { cutText } from '../text/cut-text';

/**
 * W1 One resolver for every path (workflow, committer, export, verify, replay, eval): a waiver that held on one and not on
 *    another would be a hole.
 * W2 The clock is data: `at` is when the review was opened, as its ledger says, so it resolves alike years later.
 * W3 A waived finding stays where it is, with what it said; only its status changes. Nothing is hidden.
 * W4 Only what a rule says is waived, and only POLICY: what is forbidden stays so. An ERROR is never waived: nobody knows
 *    what the validator would have said; nor is a broken contract. Built-in validators and the judge the compiler refuses.
 * W5 A waiver that is over, or that had nothing to waive, is told by `safety.waivers`, which holds nothing.
 */
export const WAIVED = 'waived';

/** What a waiver's scope is compared with. */
export interface WaiverContext {
  readonly tenant: string;
  readonly target: string;
  readonly sourceTool: string;
  /** Null where it is unknown: then no waiver that names requesters applies. */
  readonly requester: string | null;
  readonly inputSha: string;
}

export type PlanWaiver = Plan['waivers'][number];

export interface WaiverReport {
  readonly findings: readonly ValidatorFinding[];
  /** Counted apart from passed findings. */
  readonly applied: readonly { readonly waiverId: string; readonly validatorId: string }[];
  /** Would have applied, and no longer does. */
  readonly expired: readonly string[];
  /** Fits this change, and there was nothing to waive. */
  readonly unused: readonly string[];
}

/** What findings assembly needs to resolve waivers. */
export interface Waiving {
  readonly context: WaiverContext;
  /** When the review was opened; ISO 8601, UTC. */
  readonly at: string;
}

export const WAIVERS = 'safety.waivers';

/** The findings with the plan's waivers applied, and what became of these in the finding of `safety.waivers`. */
export function waiveFindings(
  plan: Pick<Plan, 'waivers'>,
  changeId: string,
  findings: ValidatorFinding[],
  waiving: Waiving | null,
): ValidatorFinding[] {
  if (plan.waivers.length === 0 || waiving === null) return findings;
  const { findings: after, applied, expired, unused } = applyWaivers(plan, findings, waiving.context, waiving.at);
  return after.map((finding) => {
    if (finding.validator_id !== WAIVERS) return finding;
    const details = { applied: applied.map(({ waiverId }) => waiverId), expired: [...expired], unused: [...unused] };
    if (expired.length + unused.length === 0) return applied.length === 0 ? finding : { ...finding, details };
    const said = [
      ...expired.map((id) => `the waiver "${id}" is over, and what it waived stands`),
      ...unused.map((id) => `the waiver "${id}" fits this change, and there was nothing to waive`),
    ];
    return {
      ...finding,
      status: 'WARN',
      reason: cutText(said.join('\n'), MAX_REASON_LENGTH),
      reasonCode: expired.length > 0 ? 'waiver_expired' : 'waiver_unused',
      evidenceRefs: [`review:${changeId}`],
      details,
    };
  });
}

/** Findings in their order, those that a waiver covers at `at` (ISO 8601, UTC) allowed and marked. Pure. */
export function applyWaivers(
  plan: Pick<Plan, 'waivers'>,
  findings: readonly ValidatorFinding[],
  context: WaiverContext,
  at: string,
): WaiverReport {
  const fitting = plan.waivers.filter((waiver) => fits(waiver, context));
  const live = fitting.filter((waiver) => isLive(waiver, at));
  const applied: { waiverId: string; validatorId: string }[] = [];
  const after = findings.map((finding) => {
    const waiver = live.find((w) => w.validatorId === finding.validator_id);
    if (waiver === undefined || !isWaivable(finding)) return finding;
    applied.push({ waiverId: waiver.id, validatorId: finding.validator_id });
    return waived(finding, waiver);
  });
  const wanted = (waiver: PlanWaiver): boolean =>
    findings.some((f) => f.validator_id === waiver.validatorId && isWaivable(f));
  return {
    findings: after,
    applied,
    expired: fitting.filter((waiver) => !isLive(waiver, at) && wanted(waiver)).map((waiver) => waiver.id),
    unused: live.filter((waiver) => !applied.some((a) => a.waiverId === waiver.id)).map((waiver) => waiver.id),
  };
}

/** A waiver ends with its last instant: at `expiresAt` it is over. A time that cannot be read is over as well. */
function isLive(waiver: PlanWaiver, at: string): boolean {
  return Date.parse(at) < Date.parse(waiver.expiresAt);
}

function isWaivable(finding: ValidatorFinding): boolean {
  const said = finding.reasonCode !== 'contract_violation' && finding.reasonCode !== 'no_result';
  return finding.class === 'POLICY' && fires(finding) && finding.errorClass === undefined && said;
}

/** The scope as the bundle's schema wrote it; anything else in a forged plan applies to nothing. */
function fits(waiver: PlanWaiver, context: WaiverContext): boolean {
  const limits = Object.entries(waiver.scope);
  return (
    limits.length > 0 &&
    limits.every(([limit, list]) => {
      const value = valueOf(limit, context);
      return typeof value === 'string' && Array.isArray(list) && list.includes(value);
    })
  );
}

/** Null for what the change does not say, undefined for a limit that nobody knows. */
function valueOf(limit: string, context: WaiverContext): string | null | undefined {
  switch (limit) {
    case 'tenants':
      return context.tenant;
    case 'targets':
      return context.target;
    case 'sourceTools':
      return context.sourceTool;
    case 'requesters':
      return context.requester;
    case 'inputs':
      return context.inputSha;
    default:
      return undefined;
  }
}

function waived(finding: ValidatorFinding, { id, reason, expiresAt }: PlanWaiver): ValidatorFinding {
  return {
    ...finding,
    status: 'ALLOW',
    reasonCode: WAIVED,
    details: {
      ...finding.details,
      waiver: {
        id,
        reason,
        expiresAt,
        status: finding.status,
        ...(finding.reasonCode === undefined ? {} : { reasonCode: finding.reasonCode }),
      },
    },
  };
}
