import type { AnswerPredicate } from '../../../policy/contracts/answer';
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import type { LedgerKind } from '../../../policy/contracts/ledger';
import type { Plan } from '../../../policy/contracts/plan';
import type { PolicyViolation } from '../../../policy/contracts/violation';
import type { Ledger } from '../../../policy/evidence/ledger-port';
import { newNonce } from '../../../signing/nonce';
import type { PlanSource } from '../../../storage/plans/plan-source';

const AT = '2026-03-01T11:00:00.000Z';
const HASH = '3'.repeat(64);

export interface DisclosedChange {
  readonly changeId: string;
  readonly plan: Pick<Plan, 'answers' | 'development' | 'groups'>;
  /** Null: nothing is disclosed. */
  readonly fingerprint: string | null;
  /** A deadline is a day unless given. */
  readonly violations: readonly (Pick<PolicyViolation, 'violationId' | 'need' | 'group' | 'fourEyes'> &
    Partial<Pick<PolicyViolation, 'deadlineMs'>>)[];
}

/** What the answers of `answerOf` are about. */
export const ANSWERED = { changeId: '1'.repeat(64), fingerprint: '2'.repeat(64), violationId: 'a'.repeat(64) } as const;

/** An answer that confirms, signed a minute before noon and valid for half an hour; `more` replaces members. */
export function answerOf(keyId: string, more: Partial<AnswerPredicate> = {}): AnswerPredicate {
  return {
    ...ANSWERED,
    decision: 'confirm',
    retracts: null,
    reason: 'seen',
    keyId,
    context: { tenant: 'acme', target: 'shop', environment: 'production' },
    coverage: null,
    nonce: newNonce(),
    issuedAt: '2026-03-01T11:59:00.000Z',
    expiresAt: '2026-03-01T12:30:00.000Z',
    ...more,
  };
}

/** Appends the rows that answers are compared with: opened by rita for tenant `acme` and target `shop`. */
export async function writeDisclosedChange(ledger: Ledger, change: DisclosedChange): Promise<void> {
  const submission = { tenant: 'acme', target: 'shop', sourceTool: 'SQLDryRun', diffSha: '4'.repeat(64) };
  const bodies: [LedgerKind, object][] = [
    ['submitted', { submission, inputSha: '5'.repeat(64), requester: 'rita' }],
    ['planned', { planHash: HASH }],
  ];
  const { fingerprint, violations } = change;
  if (fingerprint !== null) bodies.push(['disclosed', { fingerprint, violations: violations.map(complete) }]);
  const entries = bodies.map(([kind, body]) => ({ kind, at: AT, factKey: kind, body: body as JsonObject }));
  const { tenant, target, sourceTool } = submission;
  const opened = { tenant, target, sourceTool, inputSha: '5'.repeat(64), mode: 'enforced', openedAt: AT } as const;
  await ledger.append(change.changeId, entries, opened);
}

/** A plan source that has one plan with the members that answers are compared with. */
export function answerPlans(plan: DisclosedChange['plan']): Pick<PlanSource, 'byHash'> {
  return { byHash: async (planHash) => ({ plan: plan as Plan, planHash, revision: 1 }) };
}

function complete(of: DisclosedChange['violations'][number], findingIndex: number): PolicyViolation {
  const { violationId, need, group, fourEyes, deadlineMs = 86_400_000 } = of;
  const rest = { validatorId: 'v', policyKey: 'p', message: 'm', requiresConfirmation: true, callbackResult: null };
  return { violationId, findingIndex, ...rest, need, group, quorum: 1, fourEyes, deadlineMs };
}
