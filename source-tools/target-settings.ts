import type { z } from 'zod';
import { misconfigured } from '../policy/contracts/failure';

/** The settings of a target, with defaults. Throws CONFIGURATION_ERROR with each invalid field. `target`: for example `a git target`. */
export function targetSettings<T>(schema: z.ZodType<T>, target: string, settings: unknown): T {
  const parsed = schema.safeParse(settings);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((i) => `${i.path.join('.') || '(settings)'}: ${i.message}`).join('; ');
  throw misconfigured(`Invalid staging settings for ${target}: ${problems}`);
}
