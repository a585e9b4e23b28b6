import { setTimeout as sleep } from 'node:timers/promises';
import type { Envelope } from '../policy/contracts/diff';
import { isTransient } from '../client/errors';
import { createSigner } from '../client/signer';
import type { DevClient } from '../dev/client';
import { signedAnswers } from '../dev/signed-answers';
import type { Dev } from '../dev/start';
import type { LedgerNotifications } from '../storage/ledger/notifications';
import { retried } from '../workers/retried';
import { awaitRow } from './await-row';
import { spread, throughput, type Spread } from './measure';

interface Steady {
  readonly perSecond: number;
  readonly seconds: number;
}

export interface Answered extends Steady {
  readonly answered: number;
  /** From sending the decision to the row `closed`. */
  readonly decisionToCommitMs: Spread;
}

interface Signed {
  readonly changeId: string;
  readonly answers: Envelope[];
}

const SIGNED_AT_ONCE = 4;
const COMMIT_MS = 300_000;

/**
 * Starts answers at a fixed rate, however long they take: a slow system does not get fewer. People read and sign on their own machines, so
 * answers are signed before the first is sent, and results are verified after the last commit.
 */
export async function answerSteadily(
  dev: Dev,
  client: DevClient,
  notifications: LedgerNotifications,
  changeIds: readonly string[],
  { perSecond, seconds }: Steady,
): Promise<Answered> {
  const chosen = spaced(changeIds, Math.min(changeIds.length, perSecond * seconds));
  const approver = createSigner(dev.setup.keys.alice.key);
  const signed: Signed[] = [];
  await throughput(chosen.length, SIGNED_AT_ONCE, async (i) => {
    const status = await client.countersign.status(chosen[i] ?? '');
    signed.push({ changeId: status.changeId, answers: signedAnswers(status, approver, 'confirm') });
  });
  const samples: number[] = [];
  const answer = async ({ changeId, answers }: Signed): Promise<void> => {
    const began = performance.now();
    await retried(() => client.countersign.answer(changeId, answers), isTransient, { withinMs: COMMIT_MS });
    await awaitRow({ ledger: client.ledger, notifications }, changeId, ['closed'], COMMIT_MS);
    samples.push(performance.now() - began);
  };
  const running: Promise<void>[] = [];
  const began = performance.now();
  for (const [i, each] of signed.entries()) {
    await sleep(Math.max(0, began + (i * 1000) / perSecond - performance.now()));
    running.push(answer(each));
  }
  await Promise.all(running);
  await throughput(signed.length, SIGNED_AT_ONCE, async (i) => {
    const result = await client.countersign.result(signed[i]?.changeId ?? '', { timeoutMs: 60_000 });
    if (result.state !== 'COMMITTED' || !result.verified)
      throw new Error(`Expected a verified commit, got ${result.state}`);
  });
  return { perSecond, seconds, answered: signed.length, decisionToCommitMs: spread(samples) };
}

/** Evenly from the oldest to the newest: some workflows are in the worker's memory, and most are not. */
function spaced(changeIds: readonly string[], count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => changeIds[Math.floor((i * changeIds.length) / count)] ?? '');
}
