import type { JsonValue } from '../../../../policy/contracts/canonical-json';
import { wordList } from '../../../../policy/text/word-list';

/** From the smallest; each has twice the memory of the one before. Larger sizes are not listed, because of their price. */
const SIZES = wordList('nano micro small medium large xlarge 2xlarge');

/** Families of machines for general purposes, with a prefix for databases and caches. Others have graphics cards or terabytes. */
const FAMILY = /^(?:(?:db|cache)\.)?(?:t[234]|t3a|t4g|[mcr]\d[a-z]{0,3})$/;

/**
 * Whether a type of machine of AWS, such as `db.t4g.medium`, is an ordinary one, of the same family as before, and at most two
 * sizes larger or one smaller.
 */
export function isNextSize(before: JsonValue, after: JsonValue): boolean {
  const next = sizeOf(after);
  if (next === null || !FAMILY.test(next.family)) return false;
  if (before === null) return true;
  const old = sizeOf(before);
  return old !== null && old.family === next.family && next.size - old.size <= 2 && next.size - old.size >= -1;
}

function sizeOf(value: JsonValue): { readonly family: string; readonly size: number } | null {
  if (typeof value !== 'string') return null;
  const dot = value.lastIndexOf('.');
  const size = SIZES.indexOf(value.slice(dot + 1));
  return size === -1 ? null : { family: value.slice(0, dot), size };
}
