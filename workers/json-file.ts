import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { messageOf } from '../client/errors';
import { parseUniqueJson } from '../policy/text/unique-json';
import { ConfigError } from './config-error';

/**
 * Reads and validates a JSON file. Throws ConfigError that names the file, `expected` if it is given, and each invalid member, or the
 * place of a second member of the same name.
 */
export function readJson<T extends z.ZodType>(path: string, schema: T, expected?: string): z.infer<T> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${path}: ${messageOf(error)}`);
  }
  return parseJson(expected === undefined ? path : `${path}: ${expected}`, text, schema);
}

/** As `readJson`, for the text of a file or an option. */
export function parseJson<T extends z.ZodType>(name: string, text: string, schema: T): z.infer<T> {
  let value: unknown;
  try {
    value = parseUniqueJson(text);
  } catch (error) {
    throw new ConfigError(`${name}: ${messageOf(error)}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    `${name}: ${parsed.error.issues.map((i) => [...(i.path.length === 0 ? [] : [i.path.join('.')]), i.message].join(': ')).join('; ')}`,
  );
}
