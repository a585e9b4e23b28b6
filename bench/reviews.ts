import { createSigner } from '../client/signer';
import type { DevClient } from '../dev/client';
import { signedAnswers } from '../dev/signed-answers';
import type { Dev } from '../dev/start';
import { figures, type Figures } from './figures';
import { itemChange } from './shop';
import { processIds } from './with-shop';

/** Rows of the table `items` in the target. */
export const ROWS = 20_000;

/** How often an approver's client looks for the disclosure. */
export const LOOK_EVERY_MS = 250;
/** Longer than a review takes on an overloaded machine. */
export const DISCLOSED_WITHIN_MS = 300_000;

export interface ReviewJob {
  /** Takes review `i` from submission to its verified commit, and returns its id. */
  run(i: number): Promise<string>;
  /** Milliseconds of each review so far. */
  readonly times: { readonly preflight: number[]; readonly commit: number[]; readonly all: number[] };
}

/** Reviews with two packs, a dry run, the judge and two answers. */
export async function measureReviews(
  dev: Dev,
  client: DevClient,
  count: { readonly total: number; readonly open: number },
): Promise<Figures> {
  const { run, times } = reviewJob(dev, client);
  let last = '';
  const job = async (i: number): Promise<void> => void (last = await run(i));
  return figures({ temporal: client.temporal, job, times, last: () => last, pids: processIds(dev) }, count);
}

/**
 * Review `i` changes the row `firstStock + i`, modulo ROWS. Two jobs on the same target need different values of `firstStock`, or
 * their changes have the same content; jobs at the same time must not reach the same row either.
 */
export function reviewJob({ setup }: Pick<Dev, 'setup'>, client: DevClient, firstStock = 1): ReviewJob {
  const { countersign } = client;
  const approver = createSigner(setup.keys.alice.key);
  const times = { preflight: [] as number[], commit: [] as number[], all: [] as number[] };
  const run = async (i: number): Promise<string> => {
    const began = performance.now();
    const change = itemChange(((firstStock + i) % ROWS) + 1, `stock = ${firstStock + i}`);
    const { changeId, preflight } = await countersign.submit(change, { timeoutMs: 60_000 });
    if (preflight === 'pending') throw new Error('The preflight took more than 60 s');
    times.preflight.push(performance.now() - began);
    const status = await client.waiting(changeId, DISCLOSED_WITHIN_MS, LOOK_EVERY_MS);
    for (const { violationId } of status.violations) {
      const answers = signedAnswers(status, approver, 'confirm', { violationIds: [violationId] });
      const sent = await countersign.answer(changeId, answers);
      if (Object.values(sent).some((r) => r.code !== 'accepted')) throw new Error(JSON.stringify(sent));
    }
    const answered = performance.now();
    const result = await countersign.result(changeId, { timeoutMs: 60_000 });
    times.commit.push(performance.now() - answered);
    times.all.push(performance.now() - began);
    if (result.state !== 'COMMITTED' || !result.verified)
      throw new Error(`Expected a verified COMMITTED, got ${JSON.stringify(result).slice(0, 500)}`);
    return changeId;
  };
  return { run, times };
}
