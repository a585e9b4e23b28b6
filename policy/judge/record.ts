import { z } from 'zod';
import { Sha256Hex } from '../contracts/diff';
import { ErrorClass, Status } from '../contracts/finding';
import { Verdict } from '../contracts/verdict';

const Count = z.int().min(0);

/** Tokens as the provider counted them; null where it did not say. */
export const Usage = z.strictObject({
  input: Count.nullable(),
  cachedInput: Count.nullable(),
  output: Count.nullable(),
  reasoning: Count.nullable(),
});
export type Usage = z.infer<typeof Usage>;

/** One HTTP request, or an answer taken from the cache instead. The raw text lies in the ledger beside the record; here is its hash. */
export const JudgeCall = z.strictObject({
  firstLine: z.int().min(1),
  lastLine: z.int().min(0),
  promptSha: Sha256Hex,
  responseSha: Sha256Hex,
  returnedModel: z.string().max(200),
  requestId: z.string().max(200).nullable(),
  finishReason: z.string().max(50),
  usage: Usage,
  latencyMs: Count,
  /** The change for which the model was asked, where this one reused the answer. */
  reusedFrom: Sha256Hex.nullable(),
});
export type JudgeCall = z.infer<typeof JudgeCall>;

/**
 * What the judge kept of one judgement; the `record` of the attested predicate. No diff bytes and no quotation in it
 * (P12): quotations were checked against the rendering, and the answer is bound by `responseSha`.
 */
export const JudgeRecord = z.strictObject({
  revision: z.literal(1),
  status: Status,
  reasonCode: z.string(),
  /** flyto's verdict (F12), one entry for each policy in its details. Null where the judge could not answer. */
  verdict: Verdict.nullable(),
  errorClass: ErrorClass.nullable(),
  /** Why it could not answer, as in `JUDGE_CAUSES`, else null. */
  cause: z.string().nullable(),
  confidence: z.enum(['low', 'medium', 'high']).nullable(),
  instructionsInDiff: z.boolean(),
  markers: z.array(z.string()),
  provider: z.strictObject({ host: z.string(), requestedModel: z.string() }),
  hashes: z.strictObject({ diff: Sha256Hex, input: Sha256Hex, prompt: Sha256Hex, schema: Sha256Hex }),
  renderer: z.string().nullable(),
  calls: z.array(JudgeCall),
  usage: Usage,
  /** Millionths of the currency of the price table; null where the table does not name the model. */
  costMicros: Count.nullable(),
  latencyMs: Count,
  attempt: z.int().min(1),
  cacheHit: z.boolean(),
  redactions: z.record(z.string(), Count),
  invisibleCharacters: Count,
  coverage: z.strictObject({ bytes: Count, pieces: Count, lines: Count }),
});
export type JudgeRecord = z.infer<typeof JudgeRecord>;

/** A user's prices, in millionths of a currency unit for a million tokens. */
export interface PriceTable {
  readonly [model: string]: { readonly input: number; readonly cachedInput?: number; readonly output: number };
}

/** Rounded up to whole millionths. Null where the model or a count is unknown: an unknown cost is not zero. */
export function costMicros(prices: PriceTable, model: string, usage: Usage): number | null {
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (price === undefined || usage.input === null || usage.output === null) return null;
  const cached = usage.cachedInput ?? 0;
  const fresh = Math.max(0, usage.input - cached);
  return Math.ceil(
    (fresh * price.input + cached * (price.cachedInput ?? price.input) + usage.output * price.output) / 1_000_000,
  );
}

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
