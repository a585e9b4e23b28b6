import { CountersignFailure } from '../../policy/contracts/failure';
import { z } from 'zod';
import { Metadata } from '../../policy/contracts/diff';
import { changeId, inputSha } from '../../policy/contracts/change-id';
import { Status, type ValidatorResult } from '../../policy/contracts/finding';
import { sha256Hex } from '../../policy/contracts/hash';
import { JUDGE_ID, type JudgeConfig } from '../../policy/judge/config';
import { evaluationReport, type EvaluatedCase, type EvaluationReport } from '../../policy/judge/evaluation';
import { causeOf, judgeFailureResult } from '../../policy/decide/judge-failure';
import { askAboutDiff, type AskDeps } from './ask-about-diff';
import { unreadableDiff } from './judge-failures';
import { judgeValidator } from './judge-validator';
import { parallel } from './parallel';
import type { SourceTools } from '../../policy/contracts/source-tool';

/** One line of a labelled set: a diff and the status that a careful reviewer gives it. */
export const LabelledCase = z
  .strictObject({
    id: z.string().min(1).max(1000),
    sourceTool: z.string().min(1),
    raw: z.string().optional(),
    rawBase64: z.base64().optional(),
    metadata: Metadata.default({}),
    label: Status,
  })
  .refine((c) => (c.raw === undefined) !== (c.rawBase64 === undefined), 'expected exactly one of raw and rawBase64');
export type LabelledCase = z.infer<typeof LabelledCase>;

interface EvaluateOptions extends AskDeps {
  /** The judge's settings for changes of this source tool. */
  readonly configOf: (sourceTool: string) => JudgeConfig;
  readonly tools: SourceTools;
  readonly cases: readonly LabelledCase[];
  /** Number of cases evaluated concurrently. */
  readonly atOnce: number;
  readonly signal: AbortSignal;
  readonly onCase?: (done: EvaluatedCase, index: number) => void;
}

/** Asks about every case once, with the gate's own code. Does not retry, so that a flaky server shows up as failures. */
export async function evaluateJudge(
  options: EvaluateOptions,
): Promise<{ readonly cases: readonly EvaluatedCase[]; readonly report: EvaluationReport }> {
  const cases = await parallel(options.cases.length, options.atOnce, options.signal, async (index, signal) => {
    const labelled = options.cases[index];
    if (labelled === undefined) throw new RangeError(`No case ${index}`);
    const evaluated = await evaluateCase(options, labelled, signal);
    options.onCase?.(evaluated, index);
    return evaluated;
  });
  return { cases, report: evaluationReport(cases) };
}

async function evaluateCase(
  options: EvaluateOptions,
  labelled: LabelledCase,
  signal: AbortSignal,
): Promise<EvaluatedCase> {
  const raw = bytesOf(labelled);
  const submission = {
    tenant: 'eval',
    target: 'eval',
    sourceTool: labelled.sourceTool,
    diffSha: sha256Hex(raw),
    metadata: labelled.metadata,
  };
  const ref = {
    ...submission,
    inputSha: inputSha(submission),
    changeId: changeId({ ...submission, requestKey: labelled.id }),
    planHash: '0'.repeat(64),
    stagingSha: null,
    validatorId: JUDGE_ID,
  };
  const startedAt = options.now();
  const base = { id: labelled.id, sourceTool: labelled.sourceTool, label: labelled.label };
  const withResult = ({ status, reasonCode = '' }: ValidatorResult) => ({ ...base, status, reasonCode });
  try {
    const tool = options.tools.get(labelled.sourceTool);
    if (tool === undefined) throw unreadableDiff('unknown_source_tool', `no renderer for "${labelled.sourceTool}"`);
    const config = options.configOf(labelled.sourceTool);
    const judge = {
      validator: judgeValidator(config, tool),
      config,
      renderer: tool.render,
      raw,
      effectMembers: Object.keys(tool.effectMetadata.members),
    };
    const { result, record } = await askAboutDiff(options, judge, ref, { signal, attempt: 1 });
    return {
      ...withResult(result),
      confidence: record.confidence,
      failed: false,
      cause: null,
      structuredOutput: record.calls.every((call) => call.structuredOutput),
      latencyMs: record.latencyMs,
      costMicros: record.costMicros,
    };
  } catch (error) {
    if (!(error instanceof CountersignFailure)) throw error;
    const { type: failureType, message } = error;
    return {
      ...withResult(judgeFailureResult({ validatorId: JUDGE_ID, changeId: ref.changeId, failureType, message })),
      confidence: null,
      failed: true,
      cause: causeOf(message),
      structuredOutput: null,
      latencyMs: Math.max(0, options.now() - startedAt),
      costMicros: null,
    };
  }
}

function bytesOf({ raw, rawBase64 }: LabelledCase): Uint8Array {
  return rawBase64 === undefined
    ? new TextEncoder().encode(raw ?? '')
    : new Uint8Array(Buffer.from(rawBase64, 'base64'));
}
