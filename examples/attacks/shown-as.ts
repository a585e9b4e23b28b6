import { join } from 'node:path';
import { Countersign } from '../../client/countersign';
import { EVIDENCE_TRUST } from './servers';
import type { Testbed } from './testbed';

/**
 * `unverified` if nothing reports the outcome that a workflow returned as verified, else `verified`. Client and CLI must report that the
 * review is open, as the ledger has it, and `verify` that it is unverified. A client without a ledger has only what the workflow
 * returned: it must say `why`.
 */
export async function shownAs(testbed: Testbed, changeId: string, why: string): Promise<'unverified' | 'verified'> {
  const { state } = await testbed.countersign.result(changeId);
  const shown = await withoutLedger(testbed).result(changeId, { timeoutMs: 30_000 });
  const { stateDir } = testbed.dev.runtime;
  const file = join(stateDir, `${changeId}.evidence.json`);
  const [cli, exported] = [await testbed.cli('result', changeId), await testbed.cli('export', changeId, '--out', file)];
  // Fails if a command could not run: that would prove nothing.
  if (cli.code === 1 || exported.code !== 0)
    throw new Error(
      `The outcome could not be read: \`result\` exited with ${cli.code}, \`export\` with ${exported.code}`,
    );
  const report = await testbed.cli('verify', file, '--trust', join(stateDir, EVIDENCE_TRUST), '--json');
  const { verdict } = JSON.parse(report.out) as { verdict: string };
  if (shown.state !== 'PENDING' && shown.verified === false && !shown.why?.includes(why))
    throw new Error(`The client without a ledger says: ${shown.why}, expected: ${why}`);
  const doubted = [
    state === 'PENDING',
    shown.state !== 'PENDING' && !shown.verified,
    cli.code === 8 && !cli.out.includes('COMMITTED'),
    report.code === 14 && verdict === 'unverified',
  ];
  return doubted.every(Boolean) ? 'unverified' : 'verified';
}

/** A client of the agent's backend that has no ledger. */
export function withoutLedger({ temporal, client, queues, trust }: Testbed): Countersign {
  const { store } = client;
  return new Countersign({ temporal, tenant: 'default', taskQueue: queues.review, store, serviceKey: null, trust });
}
