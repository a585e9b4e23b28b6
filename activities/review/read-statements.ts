/**
 * What people said about a change, read again from its ledger rows. A workflow learns of an answer by the result of the activity that
 * recorded it. If that result is lost (the worker crashed, the database failed over, the run was reset), only this brings it back.
 */
import { VERDICTS } from '../../policy/evidence/ledger-port';
import { statementsOf, verifyAcceptedAnswers } from '../../signing/verify-answers';
import { stoppedIn } from '../rows';
import type { ReviewActivities, Statements } from '../review-types';
import type { AnswerDeps } from './admit-answer';
import { answerScopeFromRows, SCOPE_ROWS } from './scopes-from-rows';

/** `readStatements` throws STORE_UNAVAILABLE, which Temporal retries. Of a change that was not opened it returns nothing. */
export function createStatementActivities({
  ledger,
  keys,
  plans,
  databaseNow,
}: AnswerDeps): Pick<ReviewActivities, 'readStatements'> {
  return {
    async readStatements({ changeId }): Promise<Statements> {
      const stored = await ledger.readKinds(changeId, [...SCOPE_ROWS, ...VERDICTS]);
      const scope = await answerScopeFromRows(plans, changeId, stored);
      if (scope === null) return { answers: [], stopped: null };
      const at = (await databaseNow()).toISOString();
      const { find } = await keys.snapshot(0);
      const rows = stored.map(({ row }) => row);
      const answers = statementsOf(verifyAcceptedAnswers({ rows, scope, keys: find, nonces: null, at }));
      return { answers, stopped: stoppedIn(stored) };
    },
  };
}
