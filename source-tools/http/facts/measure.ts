import type { DiffMeasure } from '../../../policy/contracts/source-tool';
import type { HttpPatchFacts } from './http-facts';

/**
 * Counts one place, the resource, rather than each member of the body. Replacing the whole document removes at least one member,
 * as far as is known.
 */
export function measureRequest({ method, writes, url: { host, port, path } }: HttpPatchFacts): DiffMeasure {
  const removed = writes.filter(
    ({ how, changes, pointer }) => how === 'remove' || how === 'null' || (changes && pointer === ''),
  ).length;
  return {
    operations: Math.max(1, writes.filter(({ changes }) => changes).length),
    deletions: removed + (method === 'DELETE' ? 1 : 0),
    rows: 1,
    places: [['url', host, port, path]],
  };
}
