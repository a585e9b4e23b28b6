import type { Command } from 'commander';
import { addAction, type Cli } from '../action';
import { exitCodeForWithdrawal } from '../exit-code-for';
import { ExitCode } from '../exit-codes';
import { textOption } from '../options';
import { line, styled } from '../printer';
import { keyFileOf } from './key-option';
import { CHANGE_ID_TO_SIGN, changeIdToSign } from './change-id';

export function register(program: Command, cli: Cli): void {
  const command = program
    .command('withdraw')
    .description('withdraw a change; it is rolled back')
    .argument('<id>', CHANGE_ID_TO_SIGN)
    .option('--key <file>', 'the service key that submitted it, or your approver key')
    .option('--reason <text>', 'why');
  addAction(command, cli, async (io, [given = ''], options) => {
    const key = textOption(options, '--key');
    const reason = textOption(options, '--reason') ?? '';
    const { id, result } = await io.withReviews({ key }, async (connected) => {
      // Throws without a key, before anything is read.
      keyFileOf(connected, options);
      const changeId = await changeIdToSign(connected, given);
      return { id: changeId, result: await connected.reviews.withdraw(changeId, { reason }) };
    });
    const exitCode = exitCodeForWithdrawal(result);
    if (io.json) io.out.json({ changeId: id, ...result });
    else
      io.out.line(line`${id}  ${styled(exitCode === ExitCode.Ok ? 'green' : 'red', result.code)}  ${result.message}`);
    return exitCode;
  });
}
