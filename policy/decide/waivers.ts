import { isJsonObject } from '../contracts/canonical-json';
import type { ReviewFinding } from '../contracts/history-plan';
import { fires } from '../contracts/readings';
import type { Plan } from '../contracts/plan';
import { MAX_REASON_LENGTH } from '../contracts/limits';
import { cutText } from '../text/cut-text';

/**
 * W1 One resolver for all paths (workflow, committer, export, verify, replay, eval), so that they cannot disagree.
 * W2 Never reads a clock: `at` is the time when the review was opened, from its ledger, so that the result is reproducible.
 * W3 A waived finding keeps its position, reason and evidence; its status becomes ALLOW, and `details.waiver` has the old status.
 * W4 Only POLICY findings of rules can be waived. An ERROR is never waived, because it is unknown what the validator would have
 *    found; nor is a broken contract. The compiler refuses waivers of built-in validators and of the judge.
 * W5 `safety.waivers` reports a waiver that has expired and would have applied. It never stops the change.
 */
export const WAIVED = 'waived';

/** The change that a waiver's scope is compared with. */
export interface WaiverContext {
  readonly tenant: string;
  readonly target: string;
  readonly sourceTool: string;
  /** Null if unknown; then no waiver whose scope names requesters applies. */
  readonly requester: string | null;
  readonly inputSha: string;
}

export type PlanWaiver = Plan['waivers'][number];

interface WaiverReport<F extends ReviewFinding> {
  readonly findings: readonly F[];
  readonly applied: readonly { readonly waiverId: string; readonly validatorId: string }[];
  /** Ids of waivers that have expired and would have applied. */
  readonly expired: readonly string[];
}

/** What findings assembly needs to resolve waivers. */
export interface Waiving {
  readonly context: WaiverContext;
  /** When the review was opened; ISO 8601, UTC. */
  readonly at: string;
}

export const WAIVERS = 'safety.waivers';

/** Applies the plan's waivers to the findings and reports the result in the finding of `safety.waivers`. */
export function waiveFindings<F extends ReviewFinding>(
  plan: Pick<Plan, 'waivers'>,
  changeId: string,
  findings: F[],
  waiving: Waiving | null,
): F[] {
  if (plan.waivers.length === 0 || waiving === null) return findings;
  const { findings: after, applied, expired } = applyWaivers(plan, findings, waiving.context, waiving.at);
  return after.map((finding) => {
    if (finding.validator_id !== WAIVERS) return finding;
    const details = { applied: applied.map(({ waiverId }) => waiverId), expired: [...expired] };
    if (expired.length === 0) return applied.length === 0 ? finding : { ...finding, details };
    const reports = expired.map((id) => `Waiver "${id}" has expired; the finding that it covered applies`);
    return {
      ...finding,
      status: 'WARN',
      reason: cutText(reports.join('\n'), MAX_REASON_LENGTH),
      reasonCode: 'waiver_expired',
      evidenceRefs: [`review:${changeId}`],
      details,
    };
  });
}

/** Returns the findings in the same order. Those covered by a waiver that is valid at `at` (ISO 8601, UTC) become ALLOW and get `details.waiver`. */
export function applyWaivers<F extends ReviewFinding>(
  plan: Pick<Plan, 'waivers'>,
  findings: readonly F[],
  context: WaiverContext,
  at: string,
): WaiverReport<F> {
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
  };
}

/** Valid before `expiresAt`, not at it. Fails closed: a time that cannot be parsed counts as expired. */
function isLive(waiver: PlanWaiver, at: string): boolean {
  return Date.parse(at) < Date.parse(waiver.expiresAt);
}

function isWaivable(finding: ReviewFinding): boolean {
  const hasResult = finding.reasonCode !== 'contract_violation' && finding.reasonCode !== 'no_result';
  return finding.class === 'POLICY' && fires(finding) && finding.errorClass === undefined && hasResult;
}

/** Fails closed: an empty scope, an unknown limit or a limit that is not a list matches nothing. */
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

/** Null if the change has no such value; undefined for an unknown limit. */
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

function waived<F extends ReviewFinding>(finding: F, { id, reason, expiresAt }: PlanWaiver): F {
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

/** The waiver that let a finding pass, as `waived` wrote it; null if none did. */
export function waiverOf({
  reasonCode,
  details,
}: ReviewFinding): Pick<PlanWaiver, 'id' | 'reason' | 'expiresAt'> | null {
  const waiver = reasonCode === WAIVED ? details?.['waiver'] : undefined;
  if (!isJsonObject(waiver)) return null;
  const { id, reason, expiresAt } = waiver;
  return { id: String(id), reason: String(reason), expiresAt: String(expiresAt) };
}
