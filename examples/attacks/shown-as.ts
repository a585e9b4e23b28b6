import { Countersign } from '../../client/countersign';
import type { Testbed } from './testbed';

/**
 * `unverified` if nothing reports the outcome that a workflow returned as verified, else `verified`. Client and CLI must report that the
 * review is open, as the ledger has it, and `verify` that it is unverified. A client without a ledger has only what the workflow
 * returned: it must say `why`.
 */
export async function shownAs(testbed: Testbed, changeId: string, why: string): Promise<'unverified' | 'verified'> {
  const { state } = await testbed.countersign.result(changeId);
  const shown = await withoutLedger(testbed).result(changeId, { timeoutMs: 30_000 });
  const cli = await testbed.cli('result', changeId);
  // Fails if a command could not run: that would prove nothing.
  if (cli.code === 1) throw new Error('The outcome could not be read: `result` exited with 1');
  const { code, verdict } = await testbed.verify(await testbed.exported(changeId));
  if (shown.state !== 'PENDING' && shown.verified === false && !shown.why?.includes(why))
    throw new Error(`The client without a ledger says: ${shown.why}, expected: ${why}`);
  const doubted = [
    state === 'PENDING',
    shown.state !== 'PENDING' && !shown.verified,
    cli.code === 8 && !cli.out.includes('COMMITTED'),
    code === 14 && verdict === 'unverified',
  ];
  return doubted.every(Boolean) ? 'unverified' : 'verified';
}

/** A client of the agent's backend that has no ledger. */
export function withoutLedger({ temporal, client, queues, trust }: Testbed): Countersign {
  const { store } = client;
  return new Countersign({ temporal, tenant: 'default', taskQueue: queues.review, store, serviceKey: null, trust });
}
