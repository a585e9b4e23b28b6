import { createLateAnswers } from '../activities/review/late-answers';
import { settledOf } from '../activities/committer/settlement';
import type { ClientLedger, RecordedReview } from '../client/ports';
import { Submission } from '../policy/contracts/diff';
import type { ReviewOutcome } from '../policy/contracts/outcome';
import type { StoredRow } from '../policy/evidence/chain';
import type { Ledger } from '../policy/evidence/ledger-port';

/** The ledger for client, CLI and gateway: lists, recorded outcomes, and a record of answers that came too late. */
export function clientLedger(ledger: Ledger, now: () => Date): ClientLedger {
  const late = createLateAnswers({ ledger, now });
  return {
    list: (query) => ledger.listReviews(query),
    outcome: (changeId) => recordedReview(ledger, changeId),
    recordLate: async (changeId, message, why) =>
      void (await late.recordLate(changeId, message, { code: 'closed', message: why })),
  };
}

/** What the ledger has after Temporal's retention; null for an unknown change. */
async function recordedReview(ledger: Ledger, changeId: string): Promise<RecordedReview | null> {
  const review = await ledger.review(changeId);
  if (review === null) return null;
  const rows = await ledger.read(changeId);
  const submission = Submission.safeParse(bodyOf(rows, 'submitted')?.['submission']);
  const settled = settledOf(rows);
  if (!submission.success) return null;
  const outcome: ReviewOutcome | null =
    settled === null
      ? null
      : {
          changeId,
          action: settled.state === 'COMMITTED' ? 'COMMIT' : 'ROLLBACK',
          inputSha: review.inputSha,
          ...settled,
          findings: [...settled.findings],
          violations: [...settled.violations],
        };
  return { review, diffSha: submission.data.diffSha, outcome };
}

function bodyOf(
  rows: readonly StoredRow[],
  kind: StoredRow['row']['kind'],
): Readonly<Record<string, unknown>> | undefined {
  return rows.find((r) => r.row.kind === kind)?.row.body;
}
