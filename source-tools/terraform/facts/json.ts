import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { refuse } from '../../../policy/text/refusal';

/** Refuses a value that is not an object; `name` is the name of its member. */
export function objectOf(value: JsonValue | undefined, name: string): JsonObject {
  return isJsonObject(value) ? value : refuse('invalid_document', `Expected an object in "${name}"`, null);
}

export function textOf(object: JsonObject, key: string): string {
  const value = object[key];
  return typeof value === 'string' ? value : refuse('invalid_document', `Expected "${key}" to be a string`, null);
}
