import { z } from 'zod';
import { tokensOf } from '../../policy/text/json-pointer';
import { targetSettings } from '../target-settings';

const MAX_TIMEOUT_MS = 12_000;

/**
 * Multiple of the timeout after which a server or proxy no longer processes a request that we gave up. The seal waits for as long.
 */
export const IN_FLIGHT_FACTOR = 2;

/** How long a request may be in flight, whatever the settings. */
export const LONGEST_IN_FLIGHT_MS = IN_FLIGHT_FACTOR * MAX_TIMEOUT_MS;

/** `plan.staging` for HTTP targets. */
export const HttpSettings = z.strictObject({
  /** Timeout of one request, including its response. */
  timeoutMs: z.int().min(50).max(MAX_TIMEOUT_MS).default(8_000),
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
