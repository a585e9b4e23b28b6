import type { Command } from 'commander';
import { addAction, type Cli } from '../action';
import { ExitCode } from '../exit-codes';
import { printReview } from './review-view';

export function register(program: Command, cli: Cli): void {
  const command = program
    .command('show')
    .description('show diff, findings, evidence, and who may answer')
    .argument('<id>', 'the change id')
    .option('--evidence', 'with --json: everything the decision is based on');
  addAction(command, cli, async (io, [id = ''], options) => {
    return await io.withReviews({}, async ({ reviews }) => {
      const review = await reviews.review(id);
      if (!io.json) printReview(io.out, review, io.host.now());
      else if (options['evidence'] !== true) io.out.json(review.status);
      else io.out.json({ ...review.status, evidence: await reviews.bundle(id) });
      return ExitCode.Ok;
    });
  });
}
