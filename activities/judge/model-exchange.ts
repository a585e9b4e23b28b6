import { z } from 'zod';
import { Usage } from '../../policy/judge/record';

export interface ModelRequest {
  readonly model: string;
  readonly instructions: string;
  readonly message: string;
  readonly jsonSchema: { readonly [key: string]: unknown };
  /** Whether the server must generate in `jsonSchema`. `preferred`: not if it refuses the parameter. */
  readonly structuredOutput: 'required' | 'preferred' | 'off';
  /** 0: left out of the request. */
  readonly maxTokens: number;
  /** Absent: left out of the request. */
  readonly temperature?: number;
  /** Model names that the answer may carry besides `model` and its dated versions. */
  readonly acceptedModels: readonly string[];
  /** Hash of the part that requests have in common; a provider may use it for prompt caching. */
  readonly cacheKey: string;
}

export const ModelReply = z.strictObject({
  text: z.string(),
  model: z.string(),
  requestId: z.string().nullable(),
  finishReason: z.string(),
  usage: Usage,
  /** Whether the request asked for output in the schema. */
  structured: z.boolean(),
});
export type ModelReply = Readonly<z.infer<typeof ModelReply>>;
