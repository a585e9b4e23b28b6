import type { LedgerKind } from '../policy/contracts/ledger';
import type { StoredRow } from '../policy/evidence/chain';
import { recordRefusedWithdrawal } from '../activities/review/admit-withdrawal';
import { OPENED_ROWS } from '../activities/review/opened-change';
import { withdrawalScopeFromRows, answerScopeFromRows, SCOPE_ROWS } from '../activities/review/scopes-from-rows';
import { recordRefusedAnswers } from '../activities/review/late-answers';
import type { AnswerGate } from '../gateway/deps';
import type { Resources } from './resources';

/** Reads from ledger rows and the pinned plan what the gateway compares answers with, and records what it refuses. */
export function answerGate({ ledger, plans, now }: Pick<Resources, 'ledger' | 'plans' | 'now'>): AnswerGate {
  /** Null if the review has ended. */
  const openRows = async (changeId: string, kinds: readonly LedgerKind[]): Promise<readonly StoredRow[] | null> => {
    const rows = await ledger.readKinds(changeId, [...kinds, 'receipt', 'closed']);
    return rows.some(({ row }) => row.kind === 'receipt' || row.kind === 'closed') ? null : rows;
  };
  return {
    async scopeOf(changeId) {
      const rows = await openRows(changeId, SCOPE_ROWS);
      return rows === null ? null : answerScopeFromRows(plans, changeId, rows);
    },
    async withdrawalScopeOf(changeId, message) {
      const rows = await openRows(changeId, OPENED_ROWS);
      const sent = { kind: 'withdraw', message } as const;
      return rows === null ? null : withdrawalScopeFromRows({ ledger, plans }, changeId, rows, sent);
    },
    recordRefusedWithdrawal: (changeId, message, refused) =>
      recordRefusedWithdrawal({ ledger, now }, changeId, { kind: 'withdraw', message, via: 'gateway' }, refused),
    recordRefused: (changeId, refused) => recordRefusedAnswers({ ledger, now }, changeId, refused),
  };
}
