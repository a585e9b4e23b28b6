/**
 * Asks the judge about one staged change, and attests what it said.
 *
 * K1 The bytes are loaded here, every hash is recomputed and held against the change as it was opened, before anything is
 *    sent or signed: an invented context gets nothing.
 * K2 The signed record stands in the ledger before the result is returned.
 * K3 No end of this activity is an ALLOW that the model did not give in the strict form, to every piece of the diff.
 * K4 Asking again can only tighten: an unreadable text that says BLOCK is final, and every record stays in the ledger.
 */
import { CountersignFailure } from '../../policy/contracts/failure';
import { Context } from '@temporalio/activity';
import type { JsonObject, JsonValue } from '../../policy/contracts/canonical-json';
import { FailureType } from '../../policy/contracts/failure-type';
import { givenToJudge } from '../../policy/evidence/attested-given';
import { judgeFailureResult, causeOf } from '../../policy/decide/judge-failure';
import { attest } from '../attestation';
import { assertOpened } from '../review/opened-change';
import { withHeartbeat } from '../heartbeat';
import type { Judged, JudgeActivities, JudgeFailureInput, JudgeInput } from '../review-types';
import { askAboutDiff, type Asked } from './ask-about-diff';
import type { JudgeDeps } from './judge-deps';
import { resolveJudge, type ResolvedJudge } from './resolve-judge';

const MIN_MARKING_KEY = 16;

/** Throws TypeError at once where the marking key is too short. */
export function createJudgeActivities(deps: JudgeDeps): JudgeActivities {
  if (deps.markingKey.length < MIN_MARKING_KEY) {
    throw new TypeError(
      `judge.markingKey: expected at least ${MIN_MARKING_KEY} bytes, got ${deps.markingKey.length}; derive it from a secret of the judge worker`,
    );
  }
  return {
    /**
     * Fails with `ErrUnknownDiffType`, `ErrValidatorBackend` or `ErrVerdictParse` (retryable or not as each says), with
     * DIGEST_MISMATCH, CONFIGURATION_ERROR or `policy_moved` (never retried), or with STORE_UNAVAILABLE (retried).
     * Cancellation aborts the request and stays a cancellation.
     */
    askJudge: (input) =>
      withHeartbeat(async (signal) => {
        const { attempt } = Context.current().info;
        await opened(deps, 'askJudge', input);
        const judge = await resolveJudge(deps, input);
        const asked = await askAboutDiff(deps, judge, input, { signal, attempt });
        return record(deps, judge, input, asked);
      }).catch((error: unknown) => {
        throw onceOnly(error, Context.current().info.attempt);
      }),

    /**
     * The failure as a signed record: a judge that was silent is as much a fact as one that spoke. Of what the caller says of
     * it only the kind is kept: whoever schedules this by hand must not put a sentence of his own under the judge's key.
     */
    attestJudgeFailure: (input) =>
      withHeartbeat(async () => {
        await opened(deps, 'attestJudgeFailure', input);
        const judge = await resolveJudge(deps, input);
        return record(deps, judge, input, failed(deps, judge, input));
      }),
  };
}

function opened(deps: JudgeDeps, activity: string, input: JudgeInput): Promise<void> {
  const { ledger, actor } = deps;
  return assertOpened({ ledger, actor, now: () => new Date(deps.now()) }, activity, input);
}

/** The second unreadable answer is the last (notes: one re-ask at most). */
function onceOnly(error: unknown, attempt: number): unknown {
  if (
    !(error instanceof CountersignFailure) ||
    error.type !== FailureType.VerdictParse ||
    attempt < 2 ||
    error.nonRetryable === true
  )
    return error;
  return new CountersignFailure({
    message: error.message,
    type: FailureType.VerdictParse,
    nonRetryable: true,
    details: [...(error.details ?? [])],
  });
}

async function record(deps: JudgeDeps, judge: ResolvedJudge, input: JudgeInput, asked: Asked): Promise<Judged> {
  const at = new Date(deps.now()).toISOString();
  const { validator } = judge;
  const entry = attest(
    deps.attestor,
    input,
    {
      kind: 'judge',
      subject: validator.id,
      logicHash: validator.logic_hash,
      stagingSha: input.stagingSha,
      given: givenToJudge({ ...input, logicHash: validator.logic_hash }),
      result: asked.result as unknown as JsonValue,
      record: asked.record as unknown as JsonObject,
    },
    at,
    deps.actor,
  );
  const body =
    deps.keepAnswers && asked.answers.length > 0
      ? { ...entry.body, answers: asked.answers as unknown as JsonValue }
      : entry.body;
  await deps.ledger.append(input.changeId, [{ ...entry, body }]);
  return {
    result: asked.result,
    envelope: entry.body['envelope'] as unknown as Judged['envelope'],
    reused: asked.record.cacheHit,
  };
}

function failed(deps: JudgeDeps, { validator, config }: ResolvedJudge, input: JudgeFailureInput): Asked {
  const result = judgeFailureResult({
    validatorId: validator.id,
    changeId: input.changeId,
    failureType: input.failureType,
    message: input.message,
  });
  return {
    result,
    answers: [],
    record: {
      revision: 1,
      status: result.status,
      reasonCode: result.reasonCode ?? 'judge_backend',
      verdict: null,
      errorClass: result.errorClass ?? null,
      cause: causeOf(input.message),
      confidence: null,
      instructionsInDiff: false,
      markers: [],
      provider: { host: deps.transport.host, requestedModel: config.model },
      hashes: {
        diff: input.diffSha,
        input: input.inputSha,
        prompt: config.computed.promptSha,
        schema: config.computed.schemaSha,
      },
      renderer: null,
      calls: [],
      usage: { input: null, cachedInput: null, output: null, reasoning: null },
      costMicros: null,
      latencyMs: 0,
      attempt: Context.current().info.attempt,
      cacheHit: false,
      redactions: {},
      invisibleCharacters: 0,
      coverage: { bytes: 0, pieces: 0, lines: 0 },
    },
  };
}
