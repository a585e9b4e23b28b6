/** The attacker's workflow under the id of a review. It answers queries and messages as the attacker wishes. */
import { condition, defineQuery, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';

export interface Forged {
  /** Result of the queries `status` and `evidence`. */
  readonly status: unknown;
  /** Result of the updates `answer`, `withdraw` and `supersede`. */
  readonly replies: unknown;
  /** The result of the workflow. Null: it stays open. */
  readonly outcome: unknown;
}

export async function review({ status, replies, outcome }: Forged): Promise<unknown> {
  setHandler(defineQuery('status'), () => status);
  setHandler(defineQuery('evidence'), () => status);
  for (const name of ['answer', 'withdraw', 'supersede']) {
    setHandler(defineUpdate<unknown, [unknown]>(name), () => replies);
    setHandler(defineSignal<[unknown]>(name), () => {});
  }
  await condition(() => outcome !== null);
  return outcome;
}
