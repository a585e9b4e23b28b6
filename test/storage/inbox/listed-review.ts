import { randomBytes } from 'node:crypto';
import type { Ledger, LedgerEntry } from '../../../policy/evidence/ledger-port';

/** A review as its ledger rows say it, for lists and numbers: the members that they read. */
export interface ListedReview {
  readonly tenant?: string;
  readonly requester?: string | null;
  readonly title?: string;
  readonly sourceTool?: string;
  readonly planHash?: string;
  readonly deadlineAt?: string;
  readonly openedAt?: string;
  readonly submitter?: string;
  readonly violations?: readonly ListedViolation[];
}

export interface ListedViolation {
  readonly rule?: string;
  readonly group?: string;
  readonly quorum?: number;
  readonly fourEyes?: boolean;
  readonly need?: 'human' | 'callback' | 'hard';
}

export const PLAN = 'f'.repeat(64);

/** Opens a review and discloses its violations, whose ids are returned. */
export async function openListed(
  ledger: Ledger,
  review: ListedReview = {},
): Promise<{ readonly changeId: string; readonly violationIds: readonly string[] }> {
  const { tenant = 'acme', requester = 'carol', sourceTool = 'SqlPatch', planHash = PLAN } = review;
  const changeId = randomBytes(32).toString('hex');
  const openedAt = review.openedAt ?? new Date().toISOString();
  const at = new Date().toISOString();
  const envelope = { payloadType: 'x', payload: '', signatures: [{ keyid: review.submitter ?? 'none', sig: '' }] };
  const entry = (kind: LedgerEntry['kind'], body: LedgerEntry['body']): LedgerEntry => ({
    kind,
    at,
    factKey: kind,
    body,
  });
  const violations = (review.violations ?? [{}]).map((violation) => ({
    violationId: randomBytes(32).toString('hex'),
    validatorId: violation.rule ?? 'guardian.rows',
    need: violation.need ?? 'human',
    group: violation.group ?? 'dba',
    quorum: violation.quorum ?? 1,
    fourEyes: violation.fourEyes ?? true,
  }));
  await ledger.append(
    changeId,
    [
      entry('submitted', {
        submission: { tenant, target: 'shop', sourceTool, envelope },
        inputSha: changeId,
        requester,
      }),
      entry('planned', { planHash, revision: 1, mode: 'enforced' }),
    ],
    {
      tenant,
      target: 'shop',
      sourceTool,
      inputSha: changeId,
      requester,
      openedAt,
      summary: review.title ?? 'UPDATE orders',
    },
  );
  await ledger.append(changeId, [entry('disclosed', { violations })], {
    state: 'INTERVENTION_REQUIRED',
    pending: violations.length,
    highestSeverity: 'WARN',
    deadlineAt: review.deadlineAt ?? new Date(Date.now() + 3_600_000).toISOString(),
  });
  return { changeId, violationIds: violations.map(({ violationId }) => violationId) };
}

/** Records an admitted answer. */
export async function answerListed(
  ledger: Ledger,
  changeId: string,
  answer: {
    readonly violationId: string;
    readonly decision: 'confirm' | 'reject' | 'retract';
    readonly person: string;
  },
): Promise<void> {
  await ledger.append(changeId, [
    {
      kind: answer.decision === 'retract' ? 'retracted' : 'answer_accepted',
      at: new Date().toISOString(),
      factKey: randomBytes(8).toString('hex'),
      body: { ...answer },
    },
  ]);
}

/** Records the end of a review, with the role of the committer. */
export async function closeListed(
  ledger: Ledger,
  changeId: string,
  reason: 'declined' | 'expired' | null,
): Promise<void> {
  const state = reason === null ? 'COMMITTED' : 'ROLLED_BACK';
  const at = new Date().toISOString();
  await ledger.append(changeId, [{ kind: 'closed', at, factKey: 'closed', body: { state, reason } }], {
    state,
    reason,
    closedAt: at,
    pending: 0,
  });
}
