import { looksRandom } from '../../policy/rules/secrets/randomness';

const MIN_SECRET = 12;

/** Leaves out random segments, because the path of a webhook is often its secret. */
export function shownPath(path: string): string {
  const isSecret = (segment: string): boolean => segment.length >= MIN_SECRET && looksRandom(segment);
  return path
    .split('/')
    .map((segment) => (isSecret(segment) ? '…' : segment))
    .join('/');
}
