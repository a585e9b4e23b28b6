import { z } from 'zod';
import { Sha256Hex } from '../contracts/diff';
import { ErrorClass, Status } from '../contracts/finding';
import { Verdict } from '../contracts/verdict';

const Count = z.int().min(0);

/** Token counts reported by the provider; null if it did not report them. */
export const Usage = z.strictObject({
  input: Count.nullable(),
  cachedInput: Count.nullable(),
  output: Count.nullable(),
  reasoning: Count.nullable(),
});
export type Usage = z.infer<typeof Usage>;

/** One HTTP request or one cached answer. `responseSha` is the hash of the raw answer, which is stored next to the record. */
export const JudgeCall = z.strictObject({
  firstLine: z.int().min(1),
  lastLine: z.int().min(0),
  promptSha: Sha256Hex,
  responseSha: Sha256Hex,
  returnedModel: z.string().max(200),
  requestId: z.string().max(200).nullable(),
  finishReason: z.string().max(50),
  usage: Usage,
  /** Whether the request asked for output in the schema of the answer; false if the plan or the server does not allow it. */
  structuredOutput: z.boolean(),
  latencyMs: Count,
  /** Id of the change whose cached answer was reused; null if the model was called. */
  reusedFrom: Sha256Hex.nullable(),
});
export type JudgeCall = z.infer<typeof JudgeCall>;

/**
 * The record of one judgement; the `record` member of the attested predicate. Contains no diff bytes and no quotations:
 * quotations were verified against the rendering, and `responseSha` binds the answer.
 */
export const JudgeRecord = z.strictObject({
  revision: z.literal(1),
  status: Status,
  reasonCode: z.string(),
  /** The verdict, with one entry for each policy in its details. Null if the judge could not answer. */
  verdict: Verdict.nullable(),
  errorClass: ErrorClass.nullable(),
  /** Cause of a failure, one of `JUDGE_CAUSES`, else null. */
  cause: z.string().nullable(),
  confidence: z.enum(['low', 'medium', 'high']).nullable(),
  instructionsInDiff: z.boolean(),
  markers: z.array(z.string()),
  provider: z.strictObject({ host: z.string(), requestedModel: z.string() }),
  hashes: z.strictObject({ diff: Sha256Hex, input: Sha256Hex, prompt: Sha256Hex, schema: Sha256Hex }),
  renderer: z.string().nullable(),
  calls: z.array(JudgeCall),
  usage: Usage,
  /** Millionths of the price table's currency unit; null if the table does not list the model. */
  costMicros: Count.nullable(),
  latencyMs: Count,
  attempt: z.int().min(1),
  cacheHit: z.boolean(),
  redactions: z.record(z.string(), Count),
  invisibleCharacters: Count,
  coverage: z.strictObject({ bytes: Count, pieces: Count, lines: Count }),
});
export type JudgeRecord = z.infer<typeof JudgeRecord>;

/** Prices by model name, in millionths of a currency unit for a million tokens. */
export interface PriceTable {
  readonly [model: string]: { readonly input: number; readonly cachedInput?: number; readonly output: number };
}

/** Cost in millionths, rounded up. Null if the model or a token count is unknown: an unknown cost is not zero. */
export function costMicros(prices: PriceTable, model: string, usage: Usage): number | null {
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (price === undefined || usage.input === null || usage.output === null) return null;
  const cached = usage.cachedInput ?? 0;
  const fresh = Math.max(0, usage.input - cached);
  return Math.ceil(
    (fresh * price.input + cached * (price.cachedInput ?? price.input) + usage.output * price.output) / 1_000_000,
  );
}

/** Sums token counts. A count that is null in one operand is null in the sum. */
export function addUsage(a: Usage, b: Usage): Usage {
  const add = (x: number | null, y: number | null): number | null => (x === null || y === null ? null : x + y);
  return {
    input: add(a.input, b.input),
    cachedInput: add(a.cachedInput, b.cachedInput),
    output: add(a.output, b.output),
    reasoning: add(a.reasoning, b.reasoning),
  };
}

export const NO_USAGE: Usage = { input: 0, cachedInput: 0, output: 0, reasoning: 0 };
