import type { Command } from 'commander';
import { CountersignError } from '../../client/errors';
import type { ReviewResult } from '../../client/result';
import type { ReviewStatus } from '../../policy/contracts/status';
import { addAction, type Cli, type Io } from '../action';
import { exitCodeForResult } from '../exit-code-for';
import type { ExitCode } from '../exit-codes';
import { integerOption } from '../options';
import { line, styled } from '../printer';
import type { Connected } from './connection';
import { CHANGE_ID, resolveChangeId } from './change-id';
import { titleIfVerified } from './change-title';
import { printResult } from './result-view';
import { stateText } from './state-view';
import { orTransient, POLL_MS, waitForEnd } from './wait';

const MAX_SECONDS = 30 * 24 * 3600;

export function register(program: Command, cli: Cli): void {
  const result = program
    .command('result')
    .description('the end of a review, verified; the exit code says which')
    .argument('<id>', CHANGE_ID)
    .option('--wait <seconds>', 'wait for the end (default 0: do not wait)');
  addAction(result, cli, async (io, [given = ''], options) => {
    const seconds = integerOption(options, '--wait', { min: 0, max: MAX_SECONDS, default: 0 });
    return await io.withReviews({}, async (connected) => {
      const id = await resolveChangeId(connected.reviews, given);
      return await report(io, connected.reviews, id, await waitForEnd(io, connected, id, seconds * 1000));
    });
  });

  const watch = program
    .command('watch')
    .description('follow a review until its end')
    .argument('<id>', CHANGE_ID)
    .option('--timeout <seconds>', 'stop watching after this long (default one day)');
  addAction(watch, cli, async (io, [given = ''], options) => {
    const seconds = integerOption(options, '--timeout', { min: 1, max: MAX_SECONDS, default: 24 * 3600 });
    return await io.withReviews({}, async (connected) => {
      const id = await resolveChangeId(connected.reviews, given);
      return await report(io, connected.reviews, id, await follow(io, connected, id, seconds * 1000));
    });
  });
}

async function report(io: Io, reviews: Connected['reviews'], id: string, result: ReviewResult): Promise<ExitCode> {
  if (io.json) io.out.json(result);
  else printResult(io.out, id, await titleIfVerified(io.host.env, reviews, id), result, io.host.now());
  return exitCodeForResult(result);
}

/** Polls every two seconds, also while the server restarts, and prints changes on standard error. */
async function follow(io: Io, { reviews }: Connected, id: string, timeoutMs: number): Promise<ReviewResult> {
  const deadline = io.host.now().getTime() + timeoutMs;
  let last = '';
  for (;;) {
    const isLast = io.host.now().getTime() + POLL_MS > deadline;
    const seen = await orTransient(reviews.result(id), last !== '' && !isLast);
    const isAway = seen instanceof CountersignError;
    if (!isAway && seen.state !== 'PENDING') return seen;
    const status = isAway ? null : seen.status;
    const current = isAway ? seen.message : status === null ? 'no worker answers; the review waits' : summary(status);
    if (current !== last)
      io.err.line(
        line`${styled('dim', io.host.now().toISOString())}  ${status === null ? '' : stateText(status.state, null)}  ${current}`,
      );
    last = current;
    if (isLast && !isAway) return seen;
    await io.host.sleep(POLL_MS);
  }
}

function summary(status: ReviewStatus): string {
  const pending = status.violations.filter((violation) => violation.resolution === 'pending');
  const waits = pending.map(
    (violation) => `${violation.validatorId} ${violation.confirmedBy.length}/${violation.quorum} of ${violation.group}`,
  );
  return waits.length === 0 ? `${status.state}, ${status.findings.length} findings` : `waits for ${waits.join(', ')}`;
}
