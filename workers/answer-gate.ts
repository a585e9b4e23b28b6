import { createLateAnswers } from '../activities/review/late-answers';
import type { AnswerGate } from '../gateway/deps';
import { Submission } from '../policy/contracts/diff';
import { PolicyViolation } from '../policy/contracts/violation';
import { answerScopeOf } from '../signing/answer-scope';
import type { Resources } from './resources';

/** Reads from ledger rows and the pinned plan what the gateway compares answers with, and records what it refuses. */
export function answerGate({ ledger, plans, now }: Pick<Resources, 'ledger' | 'plans' | 'now'>): AnswerGate {
  const late = createLateAnswers({ ledger, now });
  return {
    async scopeOf(changeId) {
      const rows = await ledger.readKinds(changeId, ['submitted', 'planned', 'disclosed', 'receipt', 'closed']);
      const bodyOf = (kind: string) => rows.find(({ row }) => row.kind === kind)?.row.body;
      const planHash = bodyOf('planned')?.['planHash'];
      const submission = Submission.safeParse(bodyOf('submitted')?.['submission']);
      const ended = bodyOf('receipt') !== undefined || bodyOf('closed') !== undefined;
      if (ended || typeof planHash !== 'string' || !submission.success) return null;
      const { plan } = await plans.byHash(planHash);
      const [disclosed, requester] = [bodyOf('disclosed'), bodyOf('submitted')?.['requester']];
      const fingerprint = disclosed?.['fingerprint'];
      return answerScopeOf({
        changeId,
        submission: submission.data,
        plan,
        fingerprint: typeof fingerprint === 'string' ? fingerprint : null,
        requester: typeof requester === 'string' ? requester : null,
        violations: PolicyViolation.array().parse(disclosed?.['violations'] ?? []),
      });
    },
    recordRefused: (changeId, refused) =>
      late.recordRefused(
        changeId,
        refused.map(({ sent, ...why }) => ({ sent, refused: why })),
      ),
  };
}
