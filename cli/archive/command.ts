import { resolve } from 'node:path';
import type { Command } from 'commander';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { integerOption, requiredOption, type Options } from '../options';
import { line, styled } from '../printer';

const DAY_MS = 24 * 60 * 60_000;

export function register(program: Command, cli: Cli): void {
  const archive = program
    .command('archive')
    .description('export closed reviews and verify them, then delete diffs and histories')
    .option('--older-than <days>', 'reviews that closed at least this many days ago')
    .option('--out <dir>', 'where the evidence is written')
    .option('--limit <n>', 'at most this many reviews (default 1000)');
  addAction(archive, cli, archiveClosed);
}

async function archiveClosed(io: Io, _args: readonly string[], options: Options): Promise<ExitCode> {
  requiredOption(options, '--older-than');
  const days = integerOption(options, '--older-than', { min: 1, max: 36_500, default: 1 });
  const dir = resolve(requiredOption(options, '--out'));
  const limit = integerOption(options, '--limit', { min: 1, max: 100_000, default: 1000 });
  const before = new Date(io.host.now().getTime() - days * DAY_MS);
  const { archiveReviews } = await io.host.remote.archive();
  const done = await archiveReviews(io.host.env, { before, dir, limit }, io.err.line);
  if (io.json) io.out.json(done);
  else {
    for (const { changeId, problem } of done.kept) io.out.line(line`${styled('red', 'kept')} ${changeId}  ${problem}`);
    io.out.line(
      line`${done.archived.length} archived in ${dir}; ${done.deletedDiffs} diffs and ${done.deletedHistories} histories deleted`,
    );
  }
  return done.kept.length === 0 ? ExitCode.Ok : ExitCode.Unverified;
}
