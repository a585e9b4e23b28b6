import type { Command } from 'commander';
import type { ReviewStatus } from '../../policy/contracts/status';
import { runs, whole, type Cli, type Io } from '../command';
import type { Connected } from '../deps';
import { exitOfResult } from '../exit-of';
import { line, styled } from '../printer';
import { printResult, stateText } from '../review-view';
import type { ReviewResult } from '../../client/result';

const MAX_SECONDS = 30 * 24 * 3600;
const POLL_MS = 2_000;

export function register(program: Command, cli: Cli): void {
  const result = program
    .command('result')
    .description('the end of a review, verified; the exit code says which')
    .argument('<id>', 'the change id')
    .option('--wait <seconds>', 'wait for the end (default 0: look once)');
  runs(result, cli, async (io, [id = ''], options) => {
    const seconds = whole(options, 'wait', '--wait', { min: 0, max: MAX_SECONDS, otherwise: 0 });
    return await io.connected({}, async ({ reviews }) =>
      report(io, id, await reviews.result(id, { timeoutMs: seconds * 1000 })),
    );
  });

  const watch = program
    .command('watch')
    .description('follow a review until its end')
    .argument('<id>', 'the change id')
    .option('--timeout <seconds>', 'stop watching after this long (default one day)');
  runs(watch, cli, async (io, [id = ''], options) => {
    const seconds = whole(options, 'timeout', '--timeout', { min: 1, max: MAX_SECONDS, otherwise: 24 * 3600 });
    return await io.connected({}, async (connected) =>
      report(io, id, await followed(io, connected, id, seconds * 1000)),
    );
  });
}

function report(io: Io, id: string, result: ReviewResult): ReturnType<typeof exitOfResult> {
  if (io.json) io.out.json(result);
  else printResult(io.out, id, result);
  return exitOfResult(result);
}

/** Says on standard error what changed, looking every two seconds. */
async function followed(io: Io, { reviews }: Connected, id: string, timeoutMs: number): Promise<ReviewResult> {
  const until = io.deps.now().getTime() + timeoutMs;
  let last = '';
  for (;;) {
    const result = await reviews.result(id);
    if (result.state !== 'PENDING') return result;
    const news = result.status === null ? 'no worker answers; the review waits' : summary(result.status);
    if (news !== last)
      io.err.line(
        line`${styled('dim', io.deps.now().toISOString())}  ${result.status === null ? '' : stateText(result.status.state, null)}  ${news}`,
      );
    last = news;
    if (io.deps.now().getTime() + POLL_MS > until) return result;
    await io.deps.sleep(POLL_MS);
  }
}

function summary(status: ReviewStatus): string {
  const pending = status.violations.filter((violation) => violation.resolution === 'pending');
  const waits = pending.map(
    (violation) => `${violation.validatorId} ${violation.confirmedBy.length}/${violation.quorum} of ${violation.group}`,
  );
  return waits.length === 0 ? `${status.state}, ${status.findings.length} findings` : `waits for ${waits.join(', ')}`;
}
