import type { AnswerResult, AnswerResults } from '../../policy/contracts/answer';
import {
  explanationSha,
  violationsSha,
  type ReceiptPredicate,
  type ReviewOutcome,
} from '../../policy/contracts/outcome';
import { findingsSha } from '../../policy/decide/findings';
import type { ReviewStatus, ViolationStatus } from '../../policy/contracts/status';
import { statementOf } from '../../policy/evidence/statement';
import { signEnvelope } from '../../signing/envelope';
import { newKeyPair, type SigningKey } from '../../signing/keys';
import type { VerifiedReview } from '../../signing/verified-review';

export const hex = (digit: string): string => digit.repeat(64);
export const CHANGE = hex('c');

export function violation(overrides: Partial<ViolationStatus> = {}): ViolationStatus {
  return {
    violationId: hex('a'),
    findingIndex: 0,
    validatorId: 'guardian.sql_update_without_where',
    policyKey: 'implicit',
    message: 'UPDATE without WHERE',
    requiresConfirmation: true,
    callbackResult: null,
    need: 'human',
    group: 'approvers',
    quorum: 1,
    fourEyes: true,
    deadlineMs: 86_400_000,
    resolution: 'pending',
    confirmedBy: [],
    mayAnswer: ['alice', 'bob'],
    ...overrides,
  };
}

export function status(overrides: Partial<ReviewStatus> = {}): ReviewStatus {
  return {
    changeId: CHANGE,
    state: 'INTERVENTION_REQUIRED',
    reason: null,
    mode: 'enforced',
    tenant: 'acme',
    target: 'shop',
    sourceTool: 'SQLDryRun',
    environment: 'production',
    requester: 'carol',
    inputSha: hex('1'),
    diffSha: hex('2'),
    metadata: {},
    planHash: hex('3'),
    stagingSha: hex('4'),
    fingerprint: hex('f'),
    findings: [],
    violations: [violation()],
    disclosedAt: '2026-11-20T10:00:00.000Z',
    deadlineAt: '2026-11-21T10:00:00.000Z',
    warnings: [],
    ...overrides,
  };
}

export function outcome(overrides: Partial<ReviewOutcome> = {}): ReviewOutcome {
  return {
    changeId: CHANGE,
    state: 'COMMITTED',
    action: 'COMMIT',
    reason: null,
    explanation: 'Committed',
    mode: 'enforced',
    inputSha: hex('1'),
    planHash: hex('3'),
    stagingSha: hex('4'),
    findings: [],
    violations: [],
    receipt: null,
    ...overrides,
  };
}

/** The outcome with a matching receipt, except for the members in `lies`. */
export function withReceipt(key: SigningKey, of: ReviewOutcome, lies: Partial<ReceiptPredicate> = {}): ReviewOutcome {
  const { changeId, state, action, reason, mode, inputSha, planHash, stagingSha } = of;
  const receipt = signEnvelope(
    statementOf('receipt', {
      changeId,
      tenant: 'acme',
      target: 'shop',
      sourceTool: 'SQLDryRun',
      inputSha,
      diffSha: hex('2'),
      planHash,
      stagingSha,
      fingerprint: hex('f'),
      action,
      state,
      reason,
      mode,
      effect: null,
      explanationSha: explanationSha(of.explanation),
      findingsSha: findingsSha(of.findings),
      violationsSha: violationsSha(of.violations),
      headSha: hex('8'),
      keyId: key.keyId,
      at: '2026-11-20T11:00:00.000Z',
      ...lies,
    }),
    key,
  );
  return { ...of, receipt };
}

export const committer = newKeyPair();
export const trust = { committers: [committer.publicKey] };

/** Every method throws, except those in the argument. */
export function failing<T extends object>(given: Partial<T>): T {
  return new Proxy(given, {
    get(target, name) {
      if (name in target) return target[name as keyof T];
      if (name === 'then') return undefined;
      return () => {
        throw new Error(`not expected here: ${String(name)}()`);
      };
    },
  }) as T;
}

export const accepted = (id = hex('a'), code = 'accepted'): AnswerResults => ({
  [id]: { code: code as AnswerResult['code'], message: 'counted' },
});

/** What the client returns after it has verified a review with this status. */
export function reviewed(of: ReviewStatus = status(), bytes: Uint8Array | null = null): VerifiedReview {
  const nothing = { findings: [], plan: null, staging: null, preview: null, answers: [], refusals: [], outcome: null };
  return { changeId: of.changeId, status: of, submittedBy: null, bytes, ...nothing };
}
