import type { Command } from 'commander';
import { addAction, type Cli } from '../action';
import { ExitCode } from '../exit-codes';
import { isGiven, requiredOption } from '../options';
import { line } from '../printer';
import { CHANGE_ID_TO_SIGN, changeIdArgument } from '../reviews/change-id';
import { UsageError } from '../usage-error';

export function register(program: Command, cli: Cli): void {
  const command = program
    .command('resolve')
    .description('record whether an effect of unknown outcome was applied')
    .argument('<change>', CHANGE_ID_TO_SIGN)
    .option('--applied', 'the target shows that it was applied')
    .option('--not-applied', 'the target shows that it was not, and never will be')
    .option('--reason <text>', 'what you saw, and where')
    .option('--operator-key <file>', 'the operator key that signs it');
  addAction(command, cli, async (io, [value = ''], options) => {
    const applied = isGiven(options, '--applied');
    if (applied === isGiven(options, '--not-applied'))
      throw new UsageError('expected one of --applied and --not-applied');
    const reason = requiredOption(options, '--reason');
    const operatorKey = requiredOption(options, '--operator-key');
    const changeId = await changeIdArgument(io, value);
    const { recordEffect } = await io.host.remote.operator();
    const { told } = await recordEffect(io.host.env, { changeId, applied, reason, operatorKey });
    if (io.json) io.out.json({ changeId, applied, told });
    else io.out.line(line`${changeId}  ${applied ? 'applied' : 'not applied'}: on record`);
    if (!told) io.err.line('the review could not be notified now; it checks again within ten minutes');
    return ExitCode.Ok;
  });
}
