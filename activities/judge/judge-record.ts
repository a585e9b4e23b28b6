import type { ValidatorResult } from '../../policy/contracts/finding';
import type { JudgeDocument } from '../../policy/judge/document';
import type { Judgement } from '../../policy/judge/judgement';
import { NO_USAGE, type JudgeCall, type JudgeRecord, type Usage } from '../../policy/judge/record';
import type { JudgedChange, ResolvedJudge } from './resolve-judge';

/** How the judge answered, or why it was not asked. */
interface Outcome {
  readonly result: ValidatorResult;
  readonly judgement: Judgement | null;
  readonly calls: readonly JudgeCall[];
  readonly coverage: JudgeRecord['coverage'];
  /** Tokens and cost of all requests of this change that were answered, also in earlier attempts. */
  readonly usage: Usage;
  readonly cost: number | null;
  readonly latencyMs: number;
}

export interface RecordContext {
  readonly change: JudgedChange;
  readonly judgeOfPlan: ResolvedJudge;
  readonly host: string;
  readonly attempt: number;
}

/** The members of a record without a call to the model. */
export const NO_CALLS = { judgement: null, calls: [], usage: NO_USAGE, latencyMs: 0 } as const;

/** The record that is signed with the result. */
export function toRecord(
  { change, judgeOfPlan: { config }, host, attempt }: RecordContext,
  document: JudgeDocument | null,
  outcome: Outcome,
): JudgeRecord {
  const { judgement, calls } = outcome;
  return {
    revision: 1,
    status: outcome.result.status,
    reasonCode: outcome.result.reasonCode ?? '',
    verdict: judgement?.verdict ?? null,
    errorClass: outcome.result.errorClass ?? null,
    cause: null,
    confidence: judgement?.confidence ?? null,
    instructionsInDiff: judgement?.instructionsInDiff ?? false,
    markers: [...(document?.markers ?? [])],
    provider: { host, requestedModel: config.model },
    hashes: {
      diff: change.diffSha,
      input: change.inputSha,
      prompt: config.computed.promptSha,
      schema: config.computed.schemaSha,
    },
    renderer: document?.renderer ?? null,
    calls: [...calls],
    usage: outcome.usage,
    costMicros: outcome.cost,
    latencyMs: outcome.latencyMs,
    attempt,
    cacheHit: calls.length > 0 && calls.every((call) => call.reusedFrom !== null),
    redactions: { ...document?.redactions },
    invisibleCharacters: document?.hiding ?? 0,
    coverage: outcome.coverage,
  };
}
