import type { Command } from 'commander';
import { addAction, type Cli } from '../action';
import { ExitCode } from '../exit-codes';
import { isGiven } from '../options';
import { CHANGE_ID, resolveChangeId } from './change-id';
import { changeTitle } from './change-title';
import { printReview } from './review-view';

export function register(program: Command, cli: Cli): void {
  const command = program
    .command('show')
    .description('show what a change does, what fired, and how to answer')
    .argument('<id>', CHANGE_ID)
    .option('--all', 'everything: the whole change, all rows, all checks')
    .option('--evidence', 'with --json: everything the decision is based on');
  addAction(command, cli, async (io, [given = ''], options) => {
    return await io.withReviews({}, async ({ reviews, keyFile }) => {
      const id = await resolveChangeId(reviews, given);
      const review = await reviews.review(id);
      const extent = isGiven(options, '--all') ? 'full' : 'screen';
      const asked = { now: io.host.now(), extent, keyIsSet: keyFile !== null } as const;
      if (!io.json) printReview(io.out, await changeTitle(io.host.env, review), review, asked);
      else if (!isGiven(options, '--evidence')) io.out.json(review.status);
      else io.out.json({ ...review.status, evidence: await reviews.bundle(id) });
      return ExitCode.Ok;
    });
  });
}
