/**
 * `npm run bench:commit [-- --reviews N] [--json]`: the cost of the committer. Runs reviews one at a time on real servers and
 * measures the time from the decision (the workflow schedules `commit`) to the receipt, then the verification of the same
 * reviews alone, then ledger appends. Progress goes to standard error; with --json the last line of standard output is one object.
 */
import { randomBytes } from 'node:crypto';
import { verifyChange } from '../activities/committer/verify-change';
import type { CommitInput } from '../activities/review-types';
import { createSigner } from '../client/signer';
import type { DevClient } from '../dev/client';
import { readOptions, runProgram, say, wholeNumber } from '../dev/run-program';
import type { DevSetup } from '../dev/setup';
import { signedAnswers } from '../dev/signed-answers';
import { openCommitting } from './committing';
import { roleSetup } from '../dev/local-roles';
import { machine, spread, throughput } from './measure';
import { itemChange } from './shop';
import { withShop, type MeasuredShop } from './with-shop';

const APPENDS = 2_000;

interface Committed {
  readonly input: CommitInput;
  readonly decisionToCommittedMs: number;
}

async function benchCommit({ dev, client }: MeasuredShop, reviews: number): Promise<object> {
  const committing = openCommitting(roleSetup(dev.setup));
  try {
    for (let i = 0; i < 10; i++) await review(dev.setup, client, i);
    const done: Committed[] = [];
    for (let i = 10; i < reviews + 10; i++) done.push(await review(dev.setup, client, i));
    const decisionToCommittedMs = spread(done.map((each) => each.decisionToCommittedMs));

    const { verification } = committing;
    const verified: number[] = [];
    for (const { input } of done) {
      const rows = await verification.ledger.read(input.changeId);
      const began = performance.now();
      const result = await verifyChange(verification, input, rows);
      verified.push(performance.now() - began);
      if (!result.ok) throw new Error(`The verification failed: ${result.check}: ${result.explanation}`);
    }
    const verificationMs = spread(verified.slice(Math.min(5, verified.length - 1)));

    const { ledger } = committing.resources.commit;
    const append = async (changeId: string, n: number): Promise<void> => {
      const entry = { kind: 'refused', at: new Date().toISOString(), factKey: `bench:${n}` } as const;
      await ledger.append(changeId, [{ ...entry, body: { check: 'bench', explanation: 'x'.repeat(200) } }]);
    };
    const ids = Array.from({ length: 16 }, () => randomBytes(32).toString('hex'));
    const rate = (open: number): Promise<number> =>
      throughput(APPENDS, open, (n) => append(ids[n % open] ?? '', open * APPENDS + n));
    const appendsPerSecond = { one: Math.round(await rate(1)), sixteen: Math.round(await rate(16)) };

    say(`Machine: ${machine()}; ${reviews} reviews, one at a time`);
    say(`decision → committed p50 ${decisionToCommittedMs.p50} p95 ${decisionToCommittedMs.p95} ms`);
    say(`verification per commit p50 ${verificationMs.p50} p95 ${verificationMs.p95} ms`);
    say(`ledger appends: ${appendsPerSecond.one}/s one at a time, ${appendsPerSecond.sixteen}/s sixteen at a time`);
    return { machine: machine(), reviews, decisionToCommittedMs, verificationMs, appendsPerSecond };
  } finally {
    await committing.close();
  }
}

async function review({ keys }: DevSetup, client: DevClient, i: number): Promise<Committed> {
  const { countersign, temporal } = client;
  const { changeId } = await countersign.submit(itemChange(i + 1, `stock = ${i + 1}`), { timeoutMs: 60_000 });
  const status = await client.waiting(changeId, 60_000);
  await countersign.answer(changeId, signedAnswers(status, createSigner(keys.alice.key), 'confirm'));
  const result = await countersign.result(changeId, { timeoutMs: 60_000 });
  if (result.state !== 'COMMITTED') throw new Error(`Expected COMMITTED, got ${JSON.stringify(result).slice(0, 500)}`);

  const { events } = await temporal.workflow.getHandle(changeId).fetchHistory();
  const at = (
    event: { readonly eventTime?: { seconds?: unknown; nanos?: number | null } | null } | undefined,
  ): number => Number(event?.eventTime?.seconds ?? 0) * 1_000 + (event?.eventTime?.nanos ?? 0) / 1e6;
  const decided = events?.find((e) => e.activityTaskScheduledEventAttributes?.activityType?.name === 'commit');
  const committed = events?.find((e) =>
    e.activityTaskCompletedEventAttributes?.scheduledEventId?.eq(decided?.eventId ?? 0),
  );
  const { planHash, stagingSha } = result.outcome;
  if (planHash === null) throw new Error('The outcome of a committed change has no planHash');
  const input = { changeId, planHash, stagingSha, fingerprint: status.fingerprint };
  return { input, decisionToCommittedMs: at(committed) - at(decided) };
}

runProgram(async () => {
  const values = readOptions({ reviews: '100' });
  const reviews = wholeNumber('--reviews', values.reviews);
  const options = { say: () => {}, policy: { judge: false }, rows: reviews + 10 };
  const figures = await withShop(options, (shop) => benchCommit(shop, reviews));
  if (values.json) process.stdout.write(`${JSON.stringify(figures)}\n`);
});
