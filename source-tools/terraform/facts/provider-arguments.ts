import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { refuse } from '../../../policy/text/refusal';

/** An argument of a provider, with dots between nested ones. `value`: a constant that is true or false. */
export interface ProviderArgument {
  readonly name: string;
  readonly value: boolean | null;
}

const MAX_ARGUMENTS = 200;
const MAX_LEVELS = 6;

/** The arguments that the configuration of a provider sets; an empty block counts as one. */
export function providerArguments(expressions: JsonValue | undefined): ProviderArgument[] {
  if (expressions === undefined || expressions === null) return [];
  if (!isJsonObject(expressions))
    return refuse('invalid_document', 'Expected the "expressions" of a provider to be an object', null);
  const found = new Map<string, ProviderArgument>();
  const walk = (block: JsonObject, above: string, level: number): void => {
    for (const [member, value] of Object.entries(block)) {
      const name = `${above}${member}`;
      const blocks = level < MAX_LEVELS ? blocksOf(value) : null;
      const isEmpty = blocks?.every((one) => Object.keys(one).length === 0) === true;
      if (blocks !== null && !isEmpty) for (const one of blocks) walk(one, `${name}.`, level + 1);
      else found.set(`${name}=${constantOf(value)}`, { name, value: constantOf(value) });
      if (found.size > MAX_ARGUMENTS)
        refuse('invalid_document', `A provider has more than ${MAX_ARGUMENTS} arguments`, null);
    }
  };
  walk(expressions, '', 0);
  return [...found.values()];
}

/** The blocks of an expression; null if it is not one or more blocks. */
function blocksOf(value: JsonValue): readonly JsonObject[] | null {
  const items = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
  const blocks = items.filter(isJsonObject);
  if (blocks.length > 0 && blocks.length < items.length)
    refuse('invalid_document', 'Expected each block in the "expressions" of a provider to be an object', null);
  const areBlocks = blocks.length === items.length && !blocks.some(isArgument);
  return areBlocks ? blocks : null;
}

function isArgument(value: JsonObject): boolean {
  return Object.hasOwn(value, 'constant_value') || Object.hasOwn(value, 'references');
}

function constantOf(value: JsonValue): boolean | null {
  const constant = isJsonObject(value) ? value['constant_value'] : undefined;
  return typeof constant === 'boolean' ? constant : null;
}
