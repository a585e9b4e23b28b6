import { z } from 'zod';
import { errorMessage } from '../contracts/error-message';
import type { Status } from '../contracts/finding';
import { conclude } from './conclude';
import { readAnswer, type AnswerRefusal } from './read-answer';

/** One line of `countersign judge parse --jsonl`: a raw answer and the expected values to check. Ignores other members. */
const JudgeLine = z.object({
  id: z.union([z.string(), z.number(), z.null()], 'expected a string, a number or null'),
  /** Servers send null for an empty message. */
  raw: z
    .string("expected the model's text or null")
    .nullable()
    .transform((raw) => raw ?? ''),
  policyIds: z.array(z.string()).nullish(),
  canary: z.string().nullish(),
  /** The number of lines that the model was shown, marked from 1. */
  lines: z.int().min(0).nullish(),
});
type JudgeLine = z.infer<typeof JudgeLine>;

export interface JudgeLineRead {
  readonly id: JudgeLine['id'];
  readonly status: Status;
  readonly reasonCode: string;
  /** Why the answer is unreadable. `message` does not quote the answer. */
  readonly cause?: AnswerRefusal;
  readonly message?: string;
  /** Checks that were skipped because the line lacks the expected value. */
  readonly unchecked?: readonly ('policyIds' | 'canary' | 'lines')[];
}

/** Reads a raw answer as the gate does. An unreadable one is BLOCK with `judge_verdict_parse`, an abstention WARN with `judge_abstain`. */
export function parseJudgeLine(line: JudgeLine): JudgeLineRead {
  const unchecked = (['policyIds', 'canary', 'lines'] as const).filter(
    (key) => line[key] === undefined || line[key] === null,
  );
  const { lines } = line;
  const read = readAnswer(line.raw, {
    policyIds: line.policyIds ?? null,
    canary: line.canary ?? null,
    piece: lines === undefined || lines === null ? null : { first: 0, last: lines - 1, context: [] },
  });
  const rest = unchecked.length === 0 ? {} : { unchecked };
  if (!read.ok) {
    const { code: cause, message } = read;
    return { id: line.id, status: 'BLOCK', reasonCode: 'judge_verdict_parse', cause, message, ...rest };
  }
  const { status, reasonCode } = conclude(read.answer);
  return { id: line.id, status, reasonCode, ...rest };
}

type JudgeLineOutput = JudgeLineRead | { readonly id: JudgeLine['id']; readonly line: number; readonly error: string };

/** Converts one input line to one output line. An invalid line becomes an error entry. `number` counts from 1. */
export function parseJudgeText(text: string, number: number): JudgeLineOutput {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return {
      id: null,
      line: number,
      error: `not JSON: ${errorMessage(error)}`.slice(0, 300),
    };
  }
  const line = JudgeLine.safeParse(value);
  if (line.success) return parseJudgeLine(line.data);
  const id = z.object({ id: JudgeLine.shape.id }).safeParse(value);
  const [issue] = line.error.issues;
  return {
    id: id.success ? id.data.id : null,
    line: number,
    error: `${issue?.path.join('.') || 'line'}: ${issue?.message ?? 'invalid value'}`.slice(0, 300),
  };
}
