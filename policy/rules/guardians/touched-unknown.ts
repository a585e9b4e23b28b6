import type { Facts } from '../../contracts/facts';

/** Reason for the finding if it is unknown what a diff touches. Such a diff never passes. */
export function touchedUnknown(facts: Facts): string {
  if (!facts.ok) return `The diff could not be read (${facts.code}), so it is unknown what it touches`;
  return 'The facts of this source tool do not say what the diff touches';
}
