import type { Connection } from '@temporalio/client';
import { messageOf } from '../client/errors';
import { GRPC } from '../client/temporal-errors';
import { retried } from './retried';

/** Search attribute names and their types, in Temporal's spelling (`temporal … --search-attribute Name=Type`). */
export type SearchAttributes = Readonly<Record<string, SearchAttributeTypeName>>;
type SearchAttributeTypeName = keyof typeof WIRE_TYPE;

// temporal.api.enums.v1.IndexedValueType
const WIRE_TYPE = { Text: 1, Keyword: 2, Int: 3, Double: 4, Bool: 5, Datetime: 6, KeywordList: 7 } as const;

const NEW_NAMESPACE_MS = 20_000;
/** SQL visibility takes some seconds. */
const USABLE_MS = 90_000;

/** Names that `registerSearchAttributes` added, and names that existed with the right type. */
export interface Registered {
  readonly added: readonly string[];
  readonly present: readonly string[];
}

/**
 * Registers search attributes on an existing server, and waits until queries accept them. Idempotent. Throws, before any change, if one exists with another type.
 */
export async function registerSearchAttributes(
  connection: Connection,
  namespace: string,
  wanted: SearchAttributes,
): Promise<Registered> {
  const until = Date.now() + USABLE_MS;
  const existing = await listed(connection, namespace);
  const names = Object.keys(wanted);
  const clash = names.find((name) => existing[name] !== undefined && existing[name] !== WIRE_TYPE[wanted[name]!]);
  if (clash !== undefined) {
    throw new Error(
      `Search attribute ${clash} of namespace ${namespace} exists with another type than ${wanted[clash]}. ` +
        'Use another namespace, or remove it with `temporal operator search-attribute remove`.',
    );
  }
  const missing = names.filter((name) => existing[name] === undefined);
  if (missing.length > 0) {
    const searchAttributes = Object.fromEntries(missing.map((name) => [name, WIRE_TYPE[wanted[name]!]]));
    try {
      await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
    } catch (error) {
      // A concurrent setup registered them.
      if (!/already exist/i.test((error as Error).message)) throw error;
    }
  }
  await untilUsable(connection, namespace, wanted, until - Date.now());
  return { added: missing, present: names.filter((name) => !missing.includes(name)) };
}

/** The front end does not know a new namespace for some seconds. */
async function listed(connection: Connection, namespace: string): Promise<Partial<Record<string, number>>> {
  const answer = await retried(
    () => connection.operatorService.listSearchAttributes({ namespace }),
    (error) => (error as { code?: number }).code === GRPC.NOT_FOUND,
    { everyMs: 500, withinMs: NEW_NAMESPACE_MS },
  );
  return (answer.customAttributes ?? {}) as Partial<Record<string, number>>;
}

/** An attribute that is listed may not be usable yet: front ends cache the mapping. A count that names all of them must succeed. */
async function untilUsable(
  connection: Connection,
  namespace: string,
  wanted: SearchAttributes,
  withinMs: number,
): Promise<void> {
  const query = Object.keys(wanted)
    .map((name) => `\`${name}\` IS NULL`)
    .join(' AND ');
  if (query === '') return;
  const count = (): Promise<unknown> => connection.workflowService.countWorkflowExecutions({ namespace, query });
  await retried(count, () => true, { withinMs }).catch((error: unknown) => {
    throw new Error(
      `The search attributes of namespace ${namespace} are registered but not usable yet: ${messageOf(error)}`,
    );
  });
}
