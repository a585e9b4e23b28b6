import type { Facts } from '../../contracts/facts';

/** Why nothing can be said about what a diff touches: a finding, never a pass. */
export function unreadable(facts: Facts): string {
  if (!facts.ok) return `The diff could not be read (${facts.code}), so nobody knows what it touches`;
  return 'The facts of this source tool do not say what the diff touches';
}
