import type { Sends } from '../../policy/contracts/target-effects';

/** The record of what was sent to the target for one change, with the rules of the committer's table. */
export function memorySends(): Sends {
  let current: 'none' | 'sent' | 'sealed' = 'none';
  return {
    async begin() {
      if (current === 'none') {
        current = 'sent';
        return 'first';
      }
      return current === 'sent' ? 'again' : 'sealed';
    },
    async seal() {
      if (current === 'none') current = 'sealed';
      return current;
    },
    state: async () => current,
  };
}
