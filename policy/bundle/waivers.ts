import { z } from 'zod';
import { Name, Sha256Hex } from '../contracts/diff';
import { fires, type ValidatorFinding } from '../contracts/finding';
import type { Plan } from '../contracts/plan';

/**
 * W1 One resolver for every path: a waiver that held on one and not on another would be a hole.
 * W2 The clock is data: `at` is pinned with the review, so that the same review resolves alike years later.
 * W3 A waived finding stays where it is, with what it said; only its status changes. Nothing is hidden.
 * W4 An ERROR is never waived: nobody knows what the validator would have said. Nor are built-in validators and the judge,
 *    which the compiler refuses.
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

/** The scope as the bundle's schema wrote it; anything else in a forged plan applies to nothing. */
const Scope = z.strictObject({
  tenants: z.array(Name).optional(),
  targets: z.array(Name).optional(),
  sourceTools: z.array(Name).optional(),
  requesters: z.array(z.string()).optional(),
  inputs: z.array(Sha256Hex).optional(),
});

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
    if (waiver === undefined || !fires(finding) || finding.errorClass !== undefined) return finding;
    applied.push({ waiverId: waiver.id, validatorId: finding.validator_id });
    return waived(finding, waiver);
  });
  const wanted = (waiver: PlanWaiver): boolean =>
    findings.some((f) => f.validator_id === waiver.validatorId && fires(f));
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

function fits(waiver: PlanWaiver, context: WaiverContext): boolean {
  const scope = Scope.safeParse(waiver.scope);
  if (!scope.success || Object.keys(scope.data).length === 0) return false;
  const { tenants, targets, sourceTools, requesters, inputs } = scope.data;
  const within = (list: readonly string[] | undefined, value: string | null): boolean =>
    list === undefined || (value !== null && list.includes(value));
  return (
    within(tenants, context.tenant) &&
    within(targets, context.target) &&
    within(sourceTools, context.sourceTool) &&
    within(requesters, context.requester) &&
    within(inputs, context.inputSha)
  );
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
