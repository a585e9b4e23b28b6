import type { AnswerDeps } from '../../activities/review/admit-answer';
import type { LedgerReader } from '../../policy/evidence/ledger-port';

/** The reader of rows with the time, over a ledger and a clock in memory. */
export function timedRows(ledger: Pick<LedgerReader, 'readKinds'>, now: () => Date): AnswerDeps['readTimed'] {
  return async (changeId, kinds) => {
    const at = now().toISOString();
    return { at, rows: await ledger.readKinds(changeId, kinds) };
  };
}
