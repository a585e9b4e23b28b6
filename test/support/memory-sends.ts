import type { Sends, SendState } from '../../policy/contracts/target-effects';

/** The record of what was sent to the target for one change, with the rules of the committer's table. */
export function memorySends(): Sends {
  const begun = new Set<symbol>();
  let undoing: string | null = null;
  let sealed = false;
  const state = async (): Promise<SendState> => ({ sent: begun.size > 0, undoing, sealed });
  return {
    state,
    async begin({ resend }) {
      const again = begun.size > 0;
      if (sealed || undoing !== null) return { kind: 'sealed' };
      if (again && !resend) return { kind: 'sent' };
      const request = Symbol('request');
      begun.add(request);
      return { kind: 'begun', again, takeBack: async () => void begun.delete(request) };
    },
    async beginUndo(explanation) {
      if (sealed || undoing !== null) return false;
      undoing = explanation;
      return true;
    },
    async seal() {
      sealed = true;
      return state();
    },
  };
}
