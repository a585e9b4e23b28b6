/** How a statement gives a column its value. */
import { CLOCK_FUNCTIONS, CLOCK_KEYWORDS, isRandomUuid } from './safe-functions';
import type { Tree } from './parser';
import { child, list, nameAt, text, typed } from './tree';

/** `clock`: a bare call such as now(). `uuid`: one such as gen_random_uuid(). `own`: the default of the column. */
export type Assigned = 'clock' | 'uuid' | 'own' | 'other';

/** A bare clock may be in a cast, and a random UUID in one that keeps all of it, nothing else. */
export function assignedBy(value: unknown): Assigned {
  const { node, isCast, keepsUuid } = belowCasts(value);
  switch (node?.type) {
    case 'SetToDefault':
      return isCast ? 'other' : 'own';
    case 'SQLValueFunction':
      return CLOCK_KEYWORDS.has(text(node.node, 'op')) ? 'clock' : 'other';
    case 'FuncCall': {
      const name = nameAt(node.node, 'funcname');
      if (list(node.node, 'args').length > 0) return 'other';
      if (isRandomUuid(name)) return keepsUuid ? 'uuid' : 'other';
      const builtin = name.schema === null || name.schema === 'pg_catalog';
      return builtin && CLOCK_FUNCTIONS.has(name.name) ? 'clock' : 'other';
    }
    default:
      return 'other';
  }
}

interface BelowCasts {
  readonly node: ReturnType<typeof typed>;
  readonly isCast: boolean;
  /** Whether a UUID is the same after all casts. Of `char(1)` or a domain, a column could get one of a few values. */
  readonly keepsUuid: boolean;
}

/** Not recursive, because a short text can contain many casts. */
function belowCasts(value: unknown): BelowCasts {
  let node = typed(value);
  let isCast = false;
  let keepsUuid = true;
  while (node?.type === 'TypeCast') {
    isCast = true;
    keepsUuid &&= isUuidOrText(child(node.node, 'typeName'));
    node = typed(node.node['arg']);
  }
  return { node, isCast, keepsUuid };
}

/** `uuid` or `text`, not an array. A length, which neither type has, is an error of the server. */
function isUuidOrText(typeName: Tree): boolean {
  const { schema, name } = nameAt(typeName, 'names');
  const isBuiltin = schema === null || schema === 'pg_catalog';
  const isPlain = ['typmods', 'arrayBounds', 'setof', 'pct_type'].every((key) => typeName[key] === undefined);
  return isBuiltin && isPlain && (name === 'uuid' || name === 'text');
}

/** The call of a bare clock or random UUID, else null. */
export function callOf(value: unknown): Tree | null {
  const assigned = assignedBy(value);
  return assigned === 'clock' || assigned === 'uuid' ? (belowCasts(value).node?.node ?? null) : null;
}

export function combined(all: readonly Assigned[]): Assigned {
  const [first = 'other'] = all;
  return all.every((each) => each === first) ? first : 'other';
}
