/**
 * The only way to admit an answer, sent as an update or as a signal. Each answer of a message is judged independently.
 *
 * N1 An answer counts only once the ledger has its row: the ledger is written first, then the result goes to the workflow.
 * N2 Admission is idempotent: a retry after a lost result, or the same answer twice, finds the existing row and returns it. A
 *    refusal that is repeated is counted.
 * N3 After a receipt or the start of a rollback nothing is admitted, even if the calling workflow is still open: it may have
 *    been reset.
 * N4 The committer does not trust this activity: it verifies the rows again, against its own plan.
 */
import type { JsonValue } from '../../policy/contracts/canonical-json';
import type { LedgerRow } from '../../policy/contracts/ledger';
import type { KeyRegistry } from '../../policy/evidence/key-registry';
import type { Appended, Ledger, LedgerEntry } from '../../policy/evidence/ledger-port';
import { judgeAnswer, type CountedAnswer, type RefusedAnswer } from '../../signing/judge-answer';
import { answerFactKey, toAdmitted } from '../../signing/verify-answers';
import type { AdmitInput, Admitted, ReviewActivities } from '../review-types';
import { parseAnswerMessage } from './answer-message';
import { refusalEntry } from './answer-refusal';
import { byViolation, refusedResult, type Outcome } from './answer-results';

export interface AnswerDeps {
  readonly ledger: Ledger;
  readonly keys: Pick<KeyRegistry, 'snapshot'>;
  readonly now: () => Date;
}

interface Verdict {
  readonly sent: unknown;
  readonly judged: CountedAnswer | RefusedAnswer;
}

/** `admitAnswer` returns every refusal as data. It throws only STORE_UNAVAILABLE, which Temporal retries. */
export function createAnswerActivities(deps: AnswerDeps): Pick<ReviewActivities, 'admitAnswer'> {
  const { ledger, keys, now } = deps;

  return {
    async admitAnswer(input): Promise<Admitted> {
      const at = now().toISOString();
      const [{ find }, stored] = await Promise.all([
        keys.snapshot(),
        ledger.readKinds(input.changeId, ['answer_accepted', 'decided', 'receipt']),
      ]);
      const rows = stored.flatMap(({ row }) => (row.kind === 'answer_accepted' ? [row] : []));
      const closed = input.closed || rows.length < stored.length;
      const verdicts = parseAnswerMessage(input.message).map(({ sent, problem }): Verdict => {
        if (problem !== null) return { sent, judged: { code: 'malformed', message: problem, violationId: null } };
        const judged = judgeAnswer(sent, input, find, at);
        return {
          sent,
          judged: applyReviewState(
            restoreAdmitted(judged, input, rows, (then) => judgeAnswer(sent, input, find, then)),
            { ...input, closed },
            rows,
          ),
        };
      });

      const toEntry = ({ sent, judged }: Verdict): LedgerEntry =>
        judged.code === 'accepted'
          ? acceptedEntry(sent, judged, { at, via: input.via })
          : refusalEntry({ sent, refused: judged, via: input.via, at });
      const appended = await ledger.append(input.changeId, verdicts.map(toEntry));
      const known = new Set(input.admitted.map(({ digest }) => digest));
      const outcomes = verdicts.map(({ judged }, i) => outcomeOf(judged, appended[i], known));

      // The append may refuse an answer that was valid: its nonce was spent, or another answer was faster. Record that too.
      const ledgerRefusals = verdicts.flatMap(({ sent, judged }, i) => {
        const { code, message } = outcomes[i]?.result ?? {};
        if (judged.code !== 'accepted' || message === undefined || (code !== 'nonce_reused' && code !== 'contradicts'))
          return [];
        const refused = { code, message, violationId: judged.violationId };
        return [
          {
            i,
            refused,
            entry: refusalEntry({ sent, refused, via: input.via, at }),
          },
        ];
      });
      if (ledgerRefusals.length > 0) {
        const recorded = await ledger.append(
          input.changeId,
          ledgerRefusals.map(({ entry }) => entry),
        );
        ledgerRefusals.forEach(
          ({ i, refused }, k) =>
            (outcomes[i] = { violationId: refused.violationId, result: refusedResult(refused, recorded[k]) }),
        );
      }
      return { results: byViolation(outcomes), admitted: outcomes.flatMap(({ admitted }) => admitted ?? []) };
    },
  };
}

/** An answer that was admitted in time stays valid: a retry, or the same answer again, must not be refused as expired. */
function restoreAdmitted(
  judged: CountedAnswer | RefusedAnswer,
  input: AdmitInput,
  rows: readonly LedgerRow[],
  judgeAt: (at: string) => CountedAnswer | RefusedAnswer,
): CountedAnswer | RefusedAnswer {
  if (judged.code !== 'expired') return judged;
  for (const row of rows) {
    if (row.body['violationId'] !== judged.violationId || row.body['fingerprint'] !== input.fingerprint) continue;
    const atAdmission = judgeAt(row.at);
    if (atAdmission.code === 'accepted' && atAdmission.digest === row.body['digest']) return atAdmission;
  }
  return judged;
}

/** Refuses an answer to a closed review, and a confirm of a person who has rejected the same violation. */
function applyReviewState(
  judged: CountedAnswer | RefusedAnswer,
  input: AdmitInput,
  rows: readonly LedgerRow[],
): CountedAnswer | RefusedAnswer {
  const { violationId } = judged;
  const counted = judged.code === 'accepted' && input.admitted.some(({ digest }) => digest === judged.digest);
  if (input.closed && judged.code !== 'malformed' && !counted) {
    return { code: 'closed', message: 'the review is already decided; further answers have no effect', violationId };
  }
  if (judged.code !== 'accepted' || judged.decision === 'reject') return judged;
  // On any fingerprint: a reject remains valid after a reset of the workflow.
  const rejectedBefore = rows.some(
    ({ body }) =>
      body['decision'] === 'reject' &&
      body['signed'] === judged.signed &&
      body['person'] === judged.person &&
      body['violationId'] === violationId,
  );
  return rejectedBefore
    ? {
        code: 'contradicts',
        message: `"${judged.person}" has already rejected this violation; a reject cannot be undone`,
        violationId,
      }
    : judged;
}

function acceptedEntry(
  sent: unknown,
  answer: CountedAnswer,
  by: { readonly at: string; readonly via: string },
): LedgerEntry {
  const { violationId, fingerprint, decision, reason, person, signed, digest, keyId, nonce } = answer;
  return {
    kind: 'answer_accepted',
    at: by.at,
    // `judgeAnswer` parsed it strictly: it is an envelope or an unsigned answer, without other members.
    body: {
      answer: sent as JsonValue,
      violationId,
      fingerprint,
      decision,
      reason,
      person,
      signed,
      digest,
      keyId,
      via: by.via,
    },
    factKey: answerFactKey(answer),
    ...(keyId === null || nonce === null ? {} : { nonce: { keyId, nonce } }),
  };
}

/** `known`: digests of the answers that the workflow counts already, or that earlier items of this message add. */
function outcomeOf(judged: CountedAnswer | RefusedAnswer, appended: Appended | undefined, known: Set<string>): Outcome {
  const { violationId } = judged;
  if (judged.code !== 'accepted') return { violationId, result: refusedResult(judged, appended) };
  if (appended?.stored == null) {
    return { violationId, result: { code: 'nonce_reused', message: 'its nonce was already used; sign a new answer' } };
  }
  const { row } = appended.stored;
  if (row.body['decision'] !== judged.decision) {
    return {
      violationId,
      result: {
        code: 'contradicts',
        message: `"${judged.person}" has already answered "${String(row.body['decision'])}"; the first answer counts`,
      },
    };
  }
  const digest = String(row.body['digest']);
  const counted = known.has(digest);
  known.add(digest);
  // If the workflow does not count it yet, the result of an earlier attempt was lost: return the answer again.
  const admitted = toAdmitted({ ...judged, digest, reason: String(row.body['reason']) }, row.at);
  const same = digest === judged.digest;
  return counted || !same
    ? {
        violationId,
        result: { code: 'duplicate', message: 'this answer was already recorded' },
        ...(counted ? {} : { admitted }),
      }
    : { violationId, result: { code: 'accepted', message: `${judged.decision} by ${judged.person}` }, admitted };
}
