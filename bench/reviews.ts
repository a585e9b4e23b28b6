import { createSigner } from '../client/signer';
import { signAnswers } from '../client/sign-answers';
import type { DevClient } from '../dev/client';
import type { Dev } from '../dev/start';
import { figures, type Figures } from './figures';
import { poll } from './poll';

/** Rows of the table `items` in the target. */
export const ROWS = 20_000;

/** Reviews with two packs, a dry run, the judge and two answers. */
export async function measureReviews(
  dev: Dev,
  client: DevClient,
  count: { readonly total: number; readonly open: number },
): Promise<Figures> {
  const { setup } = dev;
  const { countersign, temporal } = client;
  const approver = createSigner(setup.keys.alice.key);
  const times = { preflight: [] as number[], commit: [] as number[] };
  let last = '';
  const job = async (i: number): Promise<void> => {
    const began = performance.now();
    const raw = `update items set stock = ${i + 1} where id = ${(i % ROWS) + 1}`;
    const { changeId, preflight } = await countersign.submit(
      { target: 'shop', sourceTool: 'SQLDryRun', raw, metadata: { table_name: 'items', affected_rows: 1 } },
      { timeoutMs: 60_000 },
    );
    if (preflight === 'pending') throw new Error('The preflight took more than 60 s');
    times.preflight.push(performance.now() - began);
    const status = await poll(async () => {
      if (!(await client.isDisclosed(changeId))) return null;
      const status = await countersign.status(changeId);
      if (status.state !== 'RUNNING' && status.state !== 'INTERVENTION_REQUIRED')
        throw new Error(`The review is ${status.state}: ${status.reason ?? ''}`);
      return status.state === 'INTERVENTION_REQUIRED' ? status : null;
    });
    const issuedAt = new Date();
    for (const violation of status.violations) {
      const choice = { violationIds: [violation.violationId], decision: 'confirm' as const, reason: 'bench' };
      const answers = signAnswers(changeId, { changeId, status, staging: null, preview: null }, choice, approver, {
        issuedAt,
        expiresAt: new Date(issuedAt.getTime() + 600_000),
      });
      const sent = await countersign.answer(changeId, [...answers]);
      if (Object.values(sent).some((r) => r.code !== 'accepted')) throw new Error(JSON.stringify(sent));
    }
    const answered = performance.now();
    const result = await countersign.result(changeId, { timeoutMs: 60_000 });
    times.commit.push(performance.now() - answered);
    if (result.state !== 'COMMITTED' || !result.verified)
      throw new Error(`Expected a verified COMMITTED, got ${JSON.stringify(result).slice(0, 500)}`);
    last = changeId;
  };
  const pids = Object.fromEntries(Object.entries(dev.processes).map(([name, { pid }]) => [name, pid]));
  return figures({ temporal, job, times, last: () => last, pids }, count);
}
