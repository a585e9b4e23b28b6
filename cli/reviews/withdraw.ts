import type { Command } from 'commander';
import { addAction, type Cli } from '../action';
import { exitCodeForWithdrawal } from '../exit-code-for';
import { ExitCode } from '../exit-codes';
import { requiredOption, textOption } from '../options';
import { line, styled } from '../printer';

export function register(program: Command, cli: Cli): void {
  const command = program
    .command('withdraw')
    .description('withdraw a change; it is rolled back')
    .argument('<id>', 'the change id')
    .option('--key <file>', 'the service key that submitted it, or your approver key')
    .option('--reason <text>', 'why');
  addAction(command, cli, async (io, [id = ''], options) => {
    const serviceKey = requiredOption(options, 'key', '--key');
    const reason = textOption(options, 'reason') ?? '';
    const result = await io.withReviews({ serviceKey }, ({ reviews }) => reviews.withdraw(id, { reason }));
    const exitCode = exitCodeForWithdrawal(result);
    if (io.json) io.out.json({ changeId: id, ...result });
    else
      io.out.line(line`${id}  ${styled(exitCode === ExitCode.Ok ? 'green' : 'red', result.code)}  ${result.message}`);
    return exitCode;
  });
}
