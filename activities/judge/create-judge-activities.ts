/**
 * Asks the judge about one staged change and signs its answer.
 *
 * K1 Takes the change from its rows and recomputes the hashes of submission, plan and bytes before anything is sent or signed: its input
 *    names a change, and cannot obtain a signature about another one.
 * K2 Appends the signed record to the ledger before returning the result.
 * K3 Returns ALLOW only if the model gave it in the strict form for every piece of the diff.
 * K4 A retry can only make the result stricter: an unreadable answer that contains BLOCK is not retried, and every record
 *    stays in the ledger.
 */
import { Context } from '@temporalio/activity';
import type { JsonObject, JsonValue } from '../../policy/contracts/canonical-json';
import { givenToJudge } from '../../policy/evidence/attested-given';
import { judgeFailureResult, causeOf } from '../../policy/decide/judge-failure';
import type { JudgeRecord } from '../../policy/judge/record';
import { attest, type Attestor } from '../attestation';
import { readInput } from '../inputs';
import { readOpenChange } from '../review/opened-change';
import { withHeartbeat } from '../heartbeat';
import { untilStoreAnswers } from '../until-store-answers';
import type { Judged, JudgeActivities, JudgeFailureInput, JudgeInput } from '../review-types';
import { askAboutDiff, type JudgeAnswer } from './ask-about-diff';
import type { JudgeDeps } from './judge-deps';
import { NO_CALLS, toRecord } from './judge-record';
import { resolveJudge, type JudgedChange, type ResolvedJudge } from './resolve-judge';

const MIN_MARKING_KEY = 16;

/** Throws TypeError if the marking key has fewer than 16 bytes. */
export function createJudgeActivities(deps: JudgeDeps): JudgeActivities {
  if (deps.markingKey.length < MIN_MARKING_KEY) {
    throw new TypeError(
      `judge.markingKey: expected at least ${MIN_MARKING_KEY} bytes, got ${deps.markingKey.length}; derive it from a secret of the judge worker`,
    );
  }
  return {
    /**
     * Fails with `ErrUnknownDiffType`, `ErrValidatorBackend` or `ErrVerdictParse` (each failure says if it is retryable),
     * with DIGEST_MISMATCH, CONFIGURATION_ERROR or `policy_moved` (not retryable), or with STORE_UNAVAILABLE (retryable).
     * Cancellation aborts the request and is reported as a cancellation.
     */
    askJudge: (input) =>
      withHeartbeat(async (signal) => {
        const { attempt } = Context.current().info;
        const attestor = await deps.attestor();
        const asked = readInput('askJudge', input);
        const { change, judge } = await untilStoreAnswers(() => resolved(deps, asked));
        const answer = await askAboutDiff(deps, judge, change, { signal, attempt });
        return record({ ...deps, attestor }, judge, change, answer);
      }),

    /**
     * Signs a record of the judge's failure. Only the failure type and cause of the input are kept: a caller must not be
     * able to get free text signed with the judge's key.
     */
    attestJudgeFailure: (input) =>
      withHeartbeat(async () => {
        const failed = readInput('attestJudgeFailure', input);
        const attestor = await deps.attestor();
        const { change, judge } = await untilStoreAnswers(() => resolved(deps, failed));
        return record({ ...deps, attestor }, judge, change, failureAnswer(deps, judge, change, failed));
      }),
  };
}

async function resolved(
  deps: JudgeDeps,
  { changeId, stagingSha, validatorId }: JudgeInput,
): Promise<{ readonly change: JudgedChange; readonly judge: ResolvedJudge }> {
  const change = { ...(await readOpenChange(deps.ledger, changeId)), stagingSha, validatorId };
  return { change, judge: await resolveJudge(deps, change) };
}

async function record(
  deps: Pick<JudgeDeps, 'ledger' | 'keepAnswers' | 'now'> & { readonly attestor: Attestor },
  judge: ResolvedJudge,
  change: JudgedChange,
  answer: JudgeAnswer,
): Promise<Judged> {
  const at = new Date(deps.now()).toISOString();
  const { validator } = judge;
  const entry = attest(
    deps.attestor,
    change,
    {
      kind: 'judge',
      subject: validator.id,
      logicHash: validator.logic_hash,
      stagingSha: change.stagingSha,
      given: givenToJudge({ ...change, logicHash: validator.logic_hash }),
      result: answer.result as unknown as JsonValue,
      record: answer.record as unknown as JsonObject,
    },
    at,
  );
  const body =
    deps.keepAnswers && answer.answers.length > 0
      ? { ...entry.body, answers: answer.answers as unknown as JsonValue }
      : entry.body;
  // The answer cost a call of the model, which a repeated attempt would make again.
  await untilStoreAnswers(() => deps.ledger.append(change.changeId, [{ ...entry, body }]));
  return { result: answer.result, reused: answer.record.cacheHit };
}

function failureAnswer(
  deps: JudgeDeps,
  judge: ResolvedJudge,
  change: JudgedChange,
  { failureType, message }: JudgeFailureInput,
): JudgeAnswer {
  const { changeId, validatorId } = change;
  const result = judgeFailureResult({ validatorId, changeId, failureType, message });
  const context = {
    change,
    judgeOfPlan: judge,
    host: deps.transport.host,
    attempt: Context.current().info.attempt,
  };
  const nothing = { ...NO_CALLS, coverage: { bytes: 0, pieces: 0, lines: 0 }, cost: null };
  const record: JudgeRecord = {
    ...toRecord(context, null, { ...nothing, result }),
    cause: causeOf(message),
    usage: { input: null, cachedInput: null, output: null, reasoning: null },
  };
  return { result, answers: [], record };
}
