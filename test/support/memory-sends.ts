import type { Sends } from '../../policy/contracts/target-effects';

/** The record of what was sent to the target for one change, with the rules of the committer's table. */
export function memorySends(): Sends {
  let [sent, sealed] = [false, false];
  return {
    state: async () => ({ sent, sealed }),
    async begin({ resend }) {
      if (sealed) return { kind: 'sealed' };
      if (sent && !resend) return { kind: 'sent' };
      const again = sent;
      sent = true;
      return { kind: 'begun', again };
    },
    async seal() {
      sealed = true;
      return { sent, sealed };
    },
  };
}
