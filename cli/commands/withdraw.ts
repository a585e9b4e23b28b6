import type { Command } from 'commander';
import { required, runs, text, type Cli } from '../command';
import { ExitCode } from '../exit-codes';
import { line, styled } from '../printer';

export function register(program: Command, cli: Cli): void {
  const command = program
    .command('withdraw')
    .description('take a change back; it is rolled back')
    .argument('<id>', 'the change id')
    .option('--actor <name>', 'who takes it back')
    .option('--reason <text>', 'why');
  runs(command, cli, async (io, [id = ''], options) => {
    const message = { actor: required(options, 'actor', '--actor'), reason: text(options, 'reason') ?? '' };
    const result = await io.connected({}, async ({ reviews }) => await reviews.withdraw(id, message));
    const good = result.code === 'accepted' || result.code === 'duplicate';
    if (io.json) io.out.json({ changeId: id, ...result });
    else io.out.line(line`${id}  ${styled(good ? 'green' : 'red', result.code)}  ${result.message}`);
    return good ? ExitCode.Ok : ExitCode.Failure;
  });
}
