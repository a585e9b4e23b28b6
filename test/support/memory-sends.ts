import type { Sends } from '../../policy/contracts/target-effects';

/** As the committer's table keeps them, for one change. */
export function memorySends(): Sends {
  let stands: 'none' | 'sent' | 'sealed' = 'none';
  return {
    async begin() {
      if (stands === 'none') {
        stands = 'sent';
        return 'first';
      }
      return stands === 'sent' ? 'again' : 'sealed';
    },
    async seal() {
      if (stands === 'none') stands = 'sealed';
      return stands;
    },
    state: async () => stands,
  };
}
