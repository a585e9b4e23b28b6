/**
 * The one way in for answers: by update or by signal, each judged by itself.
 *
 * N1 An answer counts only once its row stands in the ledger: the ledger is written first, then the workflow is told (P8).
 * N2 What stands already is found again, so a retry after a lost result, or the same answer twice, makes no second row and loses none.
 * N3 After a receipt, or a rollback that has begun, nothing is admitted, however open the calling workflow is: it may have been reset.
 * N4 Nothing the caller passes is trusted further than here: the committer verifies the rows again, against its own plan.
 */
import type { JsonValue } from '../../policy/contracts/canonical-json';
import type { LedgerRow } from '../../policy/contracts/ledger';
import type { KeyRegistry } from '../../policy/evidence/key-registry';
import type { Appended, Ledger, LedgerEntry } from '../../policy/evidence/ledger-port';
import { judgeAnswer, type CountedAnswer, type RefusedAnswer } from '../../signing/judge-answer';
import { answerFactKey, toAdmitted } from '../../signing/verify-answers';
import type { AdmitInput, Admitted, ReviewActivities } from '../review-types';
import { itemsOf } from './answer-message';
import { refusalEntry } from './answer-refusal';
import { byViolation, refusedResult, type Outcome } from './answer-results';

export interface AnswerDeps {
  readonly ledger: Ledger;
  readonly keys: Pick<KeyRegistry, 'snapshot'>;
  readonly now: () => Date;
  /** Names this call, the same in each retry of it (`activityCallId`): its refusals are recorded once. */
  readonly callId: () => string;
  /** The process that writes the rows. */
  readonly actor?: string;
}

interface Verdict {
  readonly sent: unknown;
  readonly judged: CountedAnswer | RefusedAnswer;
}

/** `admitAnswer` returns every "no" as data; it throws only STORE_UNAVAILABLE, which Temporal retries. */
export function createAnswerActivities(deps: AnswerDeps): Pick<ReviewActivities, 'admitAnswer'> {
  const { ledger, keys, now, callId, actor = 'review-worker' } = deps;

  return {
    async admitAnswer(input): Promise<Admitted> {
      const at = now().toISOString();
      const call = callId();
      const [{ find }, stored] = await Promise.all([
        keys.snapshot(),
        ledger.readKinds(input.changeId, ['answer_accepted', 'decided', 'receipt']),
      ]);
      const rows = stored.flatMap(({ row }) => (row.kind === 'answer_accepted' ? [row] : []));
      const closed = input.closed || rows.length < stored.length;
      const verdicts = itemsOf(input.message).map(({ sent, problem }): Verdict => {
        if (problem !== null) return { sent, judged: { code: 'malformed', message: problem, violationId: null } };
        const judged = judgeAnswer(sent, input, find, at);
        return {
          sent,
          judged: settle(
            stillValid(judged, sent, input, rows, (then) => judgeAnswer(sent, input, find, then)),
            { ...input, closed },
            rows,
          ),
        };
      });

      const toEntry = ({ sent, judged }: Verdict, i: number): LedgerEntry =>
        judged.code === 'accepted'
          ? acceptedEntry(sent, judged, { at, actor, via: input.via })
          : refusalEntry({ sent, refused: judged, via: input.via, at, actor, factKey: `refused:${call}:${i}` });
      const appended = await ledger.append(input.changeId, verdicts.map(toEntry));
      const known = new Set(input.admitted.map(({ digest }) => digest));
      const outcomes = verdicts.map(({ judged }, i) => outcomeOf(judged, appended[i], known));

      // What only the ledger could tell, a nonce spent elsewhere or a race with another answer, is a refused attempt as well.
      const late = verdicts.flatMap(({ sent, judged }, i) => {
        const { code, message } = outcomes[i]?.result ?? {};
        if (judged.code !== 'accepted' || message === undefined || (code !== 'nonce_reused' && code !== 'contradicts'))
          return [];
        const refused = { code, message, violationId: judged.violationId };
        return [
          {
            i,
            refused,
            entry: refusalEntry({ sent, refused, via: input.via, at, actor, factKey: `refused:${call}:${i}` }),
          },
        ];
      });
      if (late.length > 0) {
        const done = await ledger.append(
          input.changeId,
          late.map(({ entry }) => entry),
        );
        late.forEach(
          ({ i, refused }, k) =>
            (outcomes[i] = { violationId: refused.violationId, result: refusedResult(refused, done[k]) }),
        );
      }
      return { results: byViolation(outcomes), admitted: outcomes.flatMap(({ admitted }) => admitted ?? []) };
    },
  };
}

/** An answer that was valid at admission stays valid: a retry, or the same answer again, must not find it expired. */
function stillValid(
  judged: CountedAnswer | RefusedAnswer,
  sent: unknown,
  input: AdmitInput,
  rows: readonly LedgerRow[],
  judgeAt: (at: string) => CountedAnswer | RefusedAnswer,
): CountedAnswer | RefusedAnswer {
  if (judged.code !== 'expired') return judged;
  for (const row of rows) {
    if (row.body['violationId'] !== judged.violationId || row.body['fingerprint'] !== input.fingerprint) continue;
    const then = judgeAt(row.at);
    if (then.code === 'accepted' && then.digest === row.body['digest']) return then;
  }
  return judged;
}

/** What the review's own state adds: closed, or a reject of the same person that stands. */
function settle(
  judged: CountedAnswer | RefusedAnswer,
  input: AdmitInput,
  rows: readonly LedgerRow[],
): CountedAnswer | RefusedAnswer {
  const { violationId } = judged;
  const counted = judged.code === 'accepted' && input.admitted.some(({ digest }) => digest === judged.digest);
  if (input.closed && judged.code !== 'malformed' && !counted) {
    return { code: 'closed', message: 'the review is decided; nothing changes it any more', violationId };
  }
  if (judged.code !== 'accepted' || judged.decision === 'reject') return judged;
  // Also one given on another fingerprint: a reject outlives a reset of the workflow.
  const stands = rows.some(
    ({ body }) =>
      body['decision'] === 'reject' &&
      body['signed'] === judged.signed &&
      body['person'] === judged.person &&
      body['violationId'] === violationId,
  );
  return stands
    ? { code: 'contradicts', message: `"${judged.person}" rejected this violation before; that stands`, violationId }
    : judged;
}

function acceptedEntry(
  sent: unknown,
  answer: CountedAnswer,
  by: { readonly at: string; readonly actor: string; readonly via: string },
): LedgerEntry {
  const { violationId, fingerprint, decision, reason, person, signed, digest, keyId, nonce } = answer;
  return {
    kind: 'answer_accepted',
    at: by.at,
    actor: by.actor,
    // Parsed strictly before: an envelope or an unsigned answer, and nothing else.
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

/** `known` holds the digests that the workflow counts, or is about to. */
function outcomeOf(judged: CountedAnswer | RefusedAnswer, appended: Appended | undefined, known: Set<string>): Outcome {
  const { violationId } = judged;
  if (judged.code !== 'accepted') return { violationId, result: refusedResult(judged, appended) };
  if (appended?.stored == null) {
    return { violationId, result: { code: 'nonce_reused', message: 'its nonce was used before; sign a new answer' } };
  }
  const { row } = appended.stored;
  if (row.body['decision'] !== judged.decision) {
    return {
      violationId,
      result: {
        code: 'contradicts',
        message: `"${judged.person}" has answered "${String(row.body['decision'])}" before; that stands`,
      },
    };
  }
  const digest = String(row.body['digest']);
  const counted = known.has(digest);
  known.add(digest);
  // The workflow has not counted it: the result of an earlier attempt was lost, so hand it over (again).
  const admitted = toAdmitted({ ...judged, digest, reason: String(row.body['reason']) }, row.at);
  const same = digest === judged.digest;
  return counted || !same
    ? {
        violationId,
        result: { code: 'duplicate', message: 'answered already; nothing changes' },
        ...(counted ? {} : { admitted }),
      }
    : { violationId, result: { code: 'accepted', message: `${judged.decision} by ${judged.person}` }, admitted };
}
