import { z } from 'zod';
import { tokensOf } from '../../policy/text/json-pointer';
import { targetSettings } from '../target-settings';

/** `plan.staging` for HTTP targets. */
export const HttpSettings = z.strictObject({
  /** Timeout of one request, including its response. */
  timeoutMs: z.int().min(50).max(12_000).default(8_000),
  /** Maximum size of a response body. */
  maxBytes: z
    .int()
    .min(1)
    .max(16 * 1024 * 1024)
    .default(1024 * 1024),
  /** JSON pointers of members that the server updates with every change, such as `/updatedAt`. They are not compared. */
  volatile: z
    .array(
      z.string().refine((text) => text !== '' && tokensOf(text) !== null, 'expected a JSON pointer into the document'),
    )
    .max(200)
    .default([]),
});
export type HttpSettings = z.infer<typeof HttpSettings>;

export const toHttpSettings = (settings: unknown): HttpSettings =>
  targetSettings(HttpSettings, 'an HTTP target', settings);
