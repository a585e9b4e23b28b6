import { z } from 'zod';
import { tokensOf } from '../../../policy/text/json-pointer';
import { misconfigured } from '../../../policy/contracts/failure';

/** `plan.staging` for HTTP targets. */
export const HttpSettings = z.strictObject({
  /** For one request with its answer. */
  timeoutMs: z.int().min(50).max(12_000).default(8_000),
  /** Of an answer. */
  maxBytes: z
    .int()
    .min(1)
    .max(16 * 1024 * 1024)
    .default(1024 * 1024),
  /** JSON pointers of members that the server writes itself at each change, such as `/updatedAt`: not compared afterwards. */
  volatile: z
    .array(
      z.string().refine((text) => text !== '' && tokensOf(text) !== null, 'expected a JSON pointer into the document'),
    )
    .max(200)
    .default([]),
});
export type HttpSettings = z.infer<typeof HttpSettings>;

/** Throws CONFIGURATION_ERROR naming each field that does not fit. */
export function toHttpSettings(settings: unknown): HttpSettings {
  const parsed = HttpSettings.safeParse(settings);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((i) => `${i.path.join('.') || '(settings)'}: ${i.message}`).join('; ');
  throw misconfigured(`Staging settings do not fit an HTTP target: ${problems}`);
}
