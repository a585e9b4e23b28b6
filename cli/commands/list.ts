import type { Command } from 'commander';
import type { ReviewState } from '../../policy/contracts/outcome';
import type { ReviewProjection } from '../../client/ports';
import { runs, text, whole, type Cli } from '../command';
import { ExitCode } from '../exit-codes';
import { line, styled, type Printer } from '../printer';
import { stateText } from '../review-view';
import { UsageError } from '../usage-error';

const STATES: readonly ReviewState[] = [
  'RUNNING',
  'INTERVENTION_REQUIRED',
  'COMMITTING',
  'EFFECT_UNKNOWN',
  'COMMITTED',
  'ROLLED_BACK',
  'COMPENSATED',
];

export function register(program: Command, cli: Cli): void {
  const command = program
    .command('list')
    .description('list reviews, newest first; tab-separated when piped')
    .option('--state <state>', 'e.g. INTERVENTION_REQUIRED')
    .option('--tenant <name>', 'of one tenant')
    .option('--target <name>', 'for one target')
    .option('--limit <n>', '1 to 500 (default 50)')
    .option('--after <cursor>', 'continue behind the `next` of the page before');
  runs(command, cli, async (io, _args, options) => {
    const state = stateOf(text(options, 'state'));
    const limit = whole(options, 'limit', '--limit', { min: 1, max: 500, otherwise: 50 });
    const filter = {
      state,
      limit,
      tenant: text(options, 'tenant'),
      target: text(options, 'target'),
      after: text(options, 'after'),
    };
    const page = await io.connected({ tenant: filter.tenant }, async ({ reviews }) => await reviews.list(filter));
    if (io.json) {
      io.out.json(page);
      return ExitCode.Ok;
    }
    for (const review of page.reviews) {
      if (io.deps.stdout.isTTY === true) printRow(io.out, review);
      else io.out.tabbed(cells(review));
    }
    if (page.reviews.length === 0) io.err.line('no reviews');
    if (page.next !== null) io.err.line(line`more: --after ${page.next}`);
    return ExitCode.Ok;
  });
}

function printRow(out: Printer, review: ReviewProjection): void {
  const waits =
    review.pending === 0
      ? ''
      : `  ${review.pending} to answer${review.deadlineAt === null ? '' : ` until ${review.deadlineAt}`}`;
  out.line(line`${styled('bold', review.changeId)}  ${stateText(review.state, review.reason)}`);
  out.line(
    line`  ${review.sourceTool} on ${review.tenant}/${review.target}  ${review.openedAt}${waits}  ${styled('dim', review.summary)}`,
  );
}

/** The columns of the piped form; new ones go to the end. */
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

function stateOf(value: string | undefined): ReviewState | undefined {
  if (value === undefined) return undefined;
  const state = STATES.find((known) => known === value);
  if (state === undefined) throw new UsageError(`--state: expected one of ${STATES.join(', ')}, got "${value}"`);
  return state;
}
