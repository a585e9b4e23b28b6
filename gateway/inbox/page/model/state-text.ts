import { own } from './own';

const STATES: Readonly<Record<string, string>> = {
  RUNNING: 'Being checked',
  INTERVENTION_REQUIRED: 'Waits for people',
  COMMITTING: 'Being committed',
  EFFECT_UNKNOWN: 'Effect unknown',
  COMMITTED: 'Committed',
  ROLLED_BACK: 'Rolled back',
  COMPENSATED: 'Compensated',
};

/** `ROLLED_BACK`, `declined` → `Rolled back: declined`. `pending`: violations that still wait for an answer. */
export function stateText(state: string, reason: string | null, pending: number): string {
  if (state === 'INTERVENTION_REQUIRED' && pending === 0) return 'Answered, to be decided';
  const words = own(STATES, state) ?? state;
  return reason === null ? words : `${words}: ${reason.replaceAll('_', ' ')}`;
}
