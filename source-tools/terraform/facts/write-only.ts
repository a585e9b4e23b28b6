import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { isArgument } from './left-to-provider';

/**
 * Arguments that the configuration sets and that are null in every plan, because Terraform stores no value of them, with dots between
 * those of nested blocks. Providers name them so:
 * https://developer.hashicorp.com/terraform/plugin/framework/resources/write-only-arguments.
 */
export function writeOnlyArguments(given: JsonObject): string[] {
  const names = Object.entries(given).flatMap(([name, value]) => {
    if (name.endsWith('_wo')) return [name];
    return blocksIn(value).flatMap((block) => writeOnlyArguments(block).map((inner) => `${name}.${inner}`));
  });
  return [...new Set(names)];
}

/** A block that may be repeated is a list in the configuration, another one an object. */
function blocksIn(value: JsonValue): readonly JsonObject[] {
  const items: readonly JsonValue[] = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
  return items.filter(isJsonObject).filter((item) => !isArgument(item));
}
