import type { Command } from 'commander';
import { addAction, type Cli } from '../action';
import { requiredOption, textOption } from '../options';
import { ExitCode } from '../exit-codes';
import { line, styled } from '../printer';

export function register(program: Command, cli: Cli): void {
  const command = program
    .command('withdraw')
    .description('withdraw a change; it is rolled back')
    .argument('<id>', 'the change id')
    .option('--actor <name>', 'who withdraws it')
    .option('--reason <text>', 'why');
  addAction(command, cli, async (io, [id = ''], options) => {
    const message = { actor: requiredOption(options, 'actor', '--actor'), reason: textOption(options, 'reason') ?? '' };
    const result = await io.withReviews({}, async ({ reviews }) => await reviews.withdraw(id, message));
    const good = result.code === 'accepted' || result.code === 'duplicate';
    if (io.json) io.out.json({ changeId: id, ...result });
    else io.out.line(line`${id}  ${styled(good ? 'green' : 'red', result.code)}  ${result.message}`);
    return good ? ExitCode.Ok : ExitCode.Failure;
  });
}
