import { z } from 'zod';
import { isJsonObject, isPlain, MAX_DEPTH, type JsonValue } from './canonical-json';

/**
 * Any JSON value that can be hashed; the result is a copy. Not `z.json()`: its recursion depth is not bounded, and it drops a
 * member named `__proto__`, so the parsed value could differ from the value that was sent.
 */
export const Json = z.unknown().transform((value, ctx): JsonValue => {
  const path: (string | number)[] = [];
  try {
    return copyJson(value, path);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    ctx.addIssue({ code: 'custom', message: error.message, path });
    return z.NEVER;
  }
});

export const JsonObject = Json.transform((value, ctx): Record<string, JsonValue> => {
  if (isJsonObject(value)) return value as Record<string, JsonValue>;
  ctx.addIssue({ code: 'custom', message: 'expected an object' });
  return z.NEVER;
});

/** As `JsonObject`, but a member named `__proto__` is dropped: for records whose hash or canonical form is compared. */
export const JsonRecord = z.record(z.string(), Json);

class NotJson extends Error {}

/** Throws NotJson and leaves `path` at the value that is not JSON. */
function copyJson(value: unknown, path: (string | number)[]): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    throw new NotJson('expected a finite number');
  }
  if (typeof value !== 'object') throw new NotJson('expected a JSON value');
  if (path.length > MAX_DEPTH) throw new NotJson(`expected nesting of at most ${MAX_DEPTH}`);
  if (Array.isArray(value)) return Array.from(value as unknown[], (item, i) => copyMember(item, i, path));
  if (!isPlain(value)) throw new NotJson('expected a plain object');
  const copy: Record<string, JsonValue> = {};
  for (const name of Object.keys(value)) {
    if (name === '__proto__') throw new NotJson('expected no member named __proto__');
    copy[name] = copyMember((value as Record<string, unknown>)[name], name, path);
  }
  return copy;
}

function copyMember(value: unknown, name: string | number, path: (string | number)[]): JsonValue {
  path.push(name);
  const copy = copyJson(value, path);
  path.pop();
  return copy;
}
