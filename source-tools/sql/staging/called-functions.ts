import { isListed, isRandomUuid } from '../facts/safe-functions';
import type { SqlName } from '../facts/sql-facts';

/** What a call may execute. */
interface Called {
  /** Why the call must not be rehearsed, or null. */
  readonly reason: string | null;
  /** Oids of functions that must be looked up. */
  readonly functions: readonly string[];
}

interface Place {
  /** The schemas that are searched, in order. */
  readonly path: readonly string[];
  /** The call is in the body of a function, whose search path can differ: a function of any schema may be meant. */
  readonly indirect: boolean;
}

/** Rule I2 of inspect-catalog.ts. `named`: all functions with the name of the call, in every schema. */
export function calledFunctions(
  call: SqlName,
  named: readonly { readonly oid: string; readonly schema: string }[],
  { path, indirect }: Place,
): Called {
  const isBuiltin = named.some(({ schema }) => schema === 'pg_catalog');
  const users = named.filter(({ schema }) =>
    call.schema === null ? schema !== 'pg_catalog' && (indirect || path.includes(schema)) : schema === call.schema,
  );
  const refuse = (reason: string): Called => ({ reason, functions: [] });
  if (call.schema === 'pg_catalog' || (call.schema === null && isBuiltin)) {
    if (!isListed(call) && !isRandomUuid(call))
      return refuse(`${call.name}() is not on the list of functions that a dry run may execute`);
    const hiding =
      call.schema === null ? users.find(({ schema }) => indirect || !isBuiltinUuid(call, schema, path)) : undefined;
    return hiding === undefined
      ? { reason: null, functions: [] }
      : refuse(`${call.name}() may mean ${hiding.schema}.${call.name}(), which hides the built-in function`);
  }
  const reason =
    isRandomUuid(call) && users.length > 0
      ? `${call.name}() is not a function of this PostgreSQL, but one of ${users[0]?.schema}`
      : null;
  return { reason, functions: users.map(({ oid }) => oid) };
}

/**
 * True for a random UUID, which is called without arguments, if pg_catalog is before the other schema in the search path: of
 * functions with the same arguments the first in the path is called
 * (https://www.postgresql.org/docs/18/typeconv-func.html). The extension pgcrypto has a gen_random_uuid() of its own.
 */
function isBuiltinUuid(call: SqlName, schema: string, path: readonly string[]): boolean {
  const [builtin, other] = [path.indexOf('pg_catalog'), path.indexOf(schema)];
  return isRandomUuid(call) && builtin !== -1 && builtin < other;
}
