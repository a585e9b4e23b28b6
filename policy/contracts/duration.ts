import { z } from 'zod';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const FORM = /^([1-9][0-9]{0,8})(ms|s|m|h|d)$/;
const EXPECTED = 'expected a whole number and a unit: 30s, 15m, 24h, 7d';

const MIN_DURATION_MS = 100;
const MAX_DURATION_MS = 90 * 86_400_000;

/** Converts text such as "15m" to milliseconds; null if the text does not have this form. Does not check the bounds. */
export function durationMs(text: string): number | null {
  const match = FORM.exec(text);
  return match === null ? null : Number(match[1]) * (UNITS[match[2] ?? ''] ?? Number.NaN);
}

/** "30s", "15m", "24h", "7d": a whole number and one unit, from 100 ms to 90 days. */
export const Duration = z
  .string(EXPECTED)
  .regex(FORM, EXPECTED)
  .refine((text) => inBounds(durationMs(text)), 'expected at least 100ms and at most 90d');

function inBounds(ms: number | null): boolean {
  return ms === null || (ms >= MIN_DURATION_MS && ms <= MAX_DURATION_MS);
}

/** Converts a duration that the schema `Duration` accepted to milliseconds. Throws TypeError for any other text. */
export function toMs(duration: string): number {
  const ms = durationMs(duration);
  if (ms === null) throw new TypeError(`Duration ${JSON.stringify(duration)}: expected a whole number and a unit`);
  return ms;
}
