import type { JsonValue } from '../../policy/contracts/canonical-json';

/** Null if the value is the full id of a commit. */
export function commitIdProblem(value: JsonValue): string | null {
  const isId = typeof value === 'string' && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value);
  return isId ? null : 'expected the full id of the commit that the patch is based on';
}
