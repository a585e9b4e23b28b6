import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { ConfigError } from './config-error';

/** Reads and validates a JSON file. Throws ConfigError that names the file and each invalid member. */
export function readJson<T extends z.ZodType>(path: string, schema: T): z.infer<T> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ConfigError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success)
    throw new ConfigError(`${path}: ${parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ')}`);
  return parsed.data;
}
