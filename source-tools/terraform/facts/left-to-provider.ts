import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';

/**
 * Unknown members that the configuration does not set, with dots between those of nested blocks. Empty if the
 * configuration does not contain the resource. Only blocks that the configuration and the value have once are read: of several, the
 * plan does not show which one `dynamic` generates.
 */
export function leftToProvider(unknown: JsonValue, after: JsonValue, given: JsonObject | undefined): string[] {
  if (given === undefined || !isJsonObject(unknown)) return [];
  return Object.keys(unknown).flatMap((name) => {
    const mask = unknown[name] as JsonValue;
    if (!Object.hasOwn(given, name)) return mask === true ? [name] : [];
    const block = onlyBlock(given[name]);
    const value = onlyBlock(isJsonObject(after) ? after[name] : undefined);
    if (block === null || value === null || isArgument(block)) return [];
    return leftToProvider(onlyBlock(mask), value, block).map((inner) => `${name}.${inner}`);
  });
}

function onlyBlock(value: JsonValue | undefined): JsonObject | null {
  const [item] = Array.isArray(value) && value.length === 1 ? (value as readonly JsonValue[]) : [];
  return isJsonObject(item) ? item : null;
}

/** True for the expression of an argument, false for the arguments of a block. */
export function isArgument(expression: JsonObject): boolean {
  return Object.hasOwn(expression, 'constant_value') || Object.hasOwn(expression, 'references');
}
