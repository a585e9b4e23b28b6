/** Reads the server's form of stored expressions and rules (`pg_node_tree`), in which every name is resolved to an oid. */
import { LAST_CLOCK_KEYWORD } from '../facts/safe-functions';

interface StoredTree {
  readonly functions: readonly string[];
  readonly relations: readonly string[];
  readonly reasons: readonly string[];
}

/** Members with the oid of a function, in `primnodes.h` of PostgreSQL 14 to 18. */
const FUNCTION = /:(?:funcid|opfuncid|hashfuncid|negfuncid|aggfnoid|winfnoid) (\d+)/g;
const RELATION = /:relid (\d+)/g;
const KEYWORD = /\{SQLVALUEFUNCTION :op (\d+)/g;
const REFUSED: readonly (readonly [string, string])[] = [
  [':hasForUpdate true', 'locks rows'],
  ['{TABLESAMPLECLAUSE', 'reads random rows'],
  ['{NEXTVALUEEXPR', 'takes values of a sequence'],
];

export function readStoredTree(tree: string): StoredTree {
  // Constants contain user data, but only as numbers in brackets, so they cannot imitate a member. Names are escaped.
  const reasons = REFUSED.filter(([text]) => tree.includes(text)).map(([, why]) => why);
  for (const [, op] of tree.matchAll(KEYWORD))
    if (Number(op) > LAST_CLOCK_KEYWORD) reasons.push('reads who runs the statement');
  return { functions: oids(tree, FUNCTION), relations: oids(tree, RELATION), reasons };
}

function oids(tree: string, pattern: RegExp): readonly string[] {
  return [...new Set([...tree.matchAll(pattern)].map(([, oid]) => oid ?? '0'))].filter((oid) => oid !== '0');
}
