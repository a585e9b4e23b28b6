import type { CountersignFailure } from '../../policy/contracts/failure';
import type { Ledger } from '../../policy/evidence/ledger-port';
import { cutExplanation } from '../../policy/text/cut-text';
import { refusalKey } from './refusal-key';

export interface RefusalDeps {
  readonly ledger: Pick<Ledger, 'readKinds' | 'append'>;
  readonly now: () => Date;
}

/** Records the failure as refused in the ledger, if the change was opened. Returns the failure to throw. `message`: what was refused. */
export async function recordRefusal(
  { ledger, now }: RefusalDeps,
  changeId: string,
  { check, message }: { readonly check: string; readonly message: unknown },
  failure: CountersignFailure,
): Promise<CountersignFailure> {
  const body = { check, explanation: cutExplanation(failure.message) };
  const factKey = refusalKey(check, message);
  const entry = { kind: 'refused', at: now().toISOString(), factKey, body } as const;
  if ((await ledger.readKinds(changeId, ['submitted'])).length > 0) await ledger.append(changeId, [entry]);
  return failure;
}
