import { answerScopeFromRows, SCOPE_ROWS } from '../activities/review/answer-scope-from-rows';
import { createLateAnswers } from '../activities/review/late-answers';
import type { AnswerGate } from '../gateway/deps';
import type { Resources } from './resources';

/** Reads from ledger rows and the pinned plan what the gateway compares answers with, and records what it refuses. */
export function answerGate({ ledger, plans, now }: Pick<Resources, 'ledger' | 'plans' | 'now'>): AnswerGate {
  const late = createLateAnswers({ ledger, now });
  return {
    async scopeOf(changeId) {
      const rows = await ledger.readKinds(changeId, [...SCOPE_ROWS, 'receipt', 'closed']);
      const hasEnded = rows.some(({ row }) => row.kind === 'receipt' || row.kind === 'closed');
      return hasEnded ? null : answerScopeFromRows(plans, changeId, rows);
    },
    recordRefused: (changeId, refused) =>
      late.recordRefused(
        changeId,
        refused.map(({ sent, ...why }) => ({ sent, refused: why })),
      ),
  };
}
