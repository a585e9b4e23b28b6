import type { Command } from 'commander';
import { addAction, type Cli } from '../action';
import { exitCodeForWithdrawal } from '../exit-code-for';
import { ExitCode } from '../exit-codes';
import { requiredOption, textOption } from '../options';
import { line, styled } from '../printer';
import { CHANGE_ID, resolveChangeId } from './change-id';

export function register(program: Command, cli: Cli): void {
  const command = program
    .command('withdraw')
    .description('withdraw a change; it is rolled back')
    .argument('<id>', CHANGE_ID)
    .option('--key <file>', 'the service key that submitted it, or your approver key')
    .option('--reason <text>', 'why');
  addAction(command, cli, async (io, [given = ''], options) => {
    const serviceKey = requiredOption(options, 'key', '--key');
    const reason = textOption(options, 'reason') ?? '';
    const { id, result } = await io.withReviews({ serviceKey }, async ({ reviews }) => {
      const changeId = await resolveChangeId(reviews, given);
      return { id: changeId, result: await reviews.withdraw(changeId, { reason }) };
    });
    const exitCode = exitCodeForWithdrawal(result);
    if (io.json) io.out.json({ changeId: id, ...result });
    else
      io.out.line(line`${id}  ${styled(exitCode === ExitCode.Ok ? 'green' : 'red', result.code)}  ${result.message}`);
    return exitCode;
  });
}
