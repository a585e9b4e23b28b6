import type { Command } from 'commander';
import { ReviewState } from '../../policy/contracts/outcome';
import type { ReviewProjection } from '../../client/ports';
import { addAction, type Cli } from '../action';
import { choiceOption, integerOption, textOption } from '../options';
import { ExitCode } from '../exit-codes';
import { line, styled, type Printer } from '../printer';
import { shortId } from './change-id';
import { stateLine } from './state-view';
import { shortTime } from '../../policy/text/short-time';

export function register(program: Command, cli: Cli): void {
  const command = program
    .command('list')
    .description('list reviews, newest first; tab-separated when piped')
    .option('--state <state>', 'e.g. INTERVENTION_REQUIRED')
    .option('--tenant <name>', 'of one tenant')
    .option('--target <name>', 'for one target')
    .option('--limit <n>', '1 to 500 (default 50)')
    .option('--after <cursor>', 'continue after this page, the `next` of its JSON');
  addAction(command, cli, async (io, _args, options) => {
    const state = choiceOption(options, '--state', ReviewState.options, `one of ${ReviewState.options.join(', ')}`);
    const limit = integerOption(options, '--limit', { min: 1, max: 500, default: 50 });
    const filter = {
      state,
      limit,
      tenant: textOption(options, '--tenant'),
      target: textOption(options, '--target'),
      after: textOption(options, '--after'),
    };
    const page = await io.withReviews({ tenant: filter.tenant }, async ({ reviews }) => await reviews.list(filter));
    if (io.json) {
      io.out.json(page);
      return ExitCode.Ok;
    }
    for (const review of page.reviews) {
      if (io.host.stdout.isTTY === true) printRow(io.out, review, io.host.now());
      else io.out.tabbed(cells(review));
    }
    if (page.reviews.length === 0) io.err.line('no reviews');
    if (page.next !== null) io.err.line(line`more: --after ${page.next}`);
    return ExitCode.Ok;
  });
}

function printRow(out: Printer, review: ReviewProjection, now: Date): void {
  out.cut(review.summary, `${shortId(review.changeId)}  `, 'bold');
  out.line(line`          ${stateLine(review, now)}`);
  const by = review.requester === null ? '' : `  asked by ${review.requester}`;
  out.line(styled('dim', line`          ${review.tenant}/${review.target}  ${shortTime(review.openedAt)}${by}`));
}

/** The columns of the piped form. Add new ones at the end. */
function cells(review: ReviewProjection): string[] {
  const { changeId, state, reason, pending, sourceTool, tenant, target, deadlineAt, openedAt, summary } = review;
  return [
    changeId,
    state,
    reason ?? '-',
    String(pending),
    sourceTool,
    tenant,
    target,
    openedAt,
    deadlineAt ?? '-',
    summary,
  ];
}
