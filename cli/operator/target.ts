import type { Command } from 'commander';
import { addAction, type Cli } from '../action';
import { ExitCode } from '../exit-codes';
import { isGiven, requiredOption, targetName } from '../options';
import { line } from '../printer';

export function register(program: Command, cli: Cli): void {
  const target = program.command('target').description('prepare, freeze and unfreeze targets');

  const init = target
    .command('init')
    .description('make marker table, roles and grants in a target')
    .argument('<name>', 'the target')
    .option('--rotate', 'set new passwords if the roles exist')
    .option('--dry-run', 'print what would be done');
  addAction(init, cli, async (io, [given = ''], options) => {
    const name = targetName(given, 'name');
    const { targetInit } = await io.host.remote.targetInit();
    const modes = { dryRun: isGiven(options, '--dry-run'), rotate: isGiven(options, '--rotate') };
    const done = await targetInit(io.host.env, name, modes, io.err.line);
    if (io.json) io.out.json({ target: name, done });
    else for (const step of done) io.out.block(step, '');
    return ExitCode.Ok;
  });

  registerFreeze(target, cli, true);
  registerFreeze(target, cli, false);
}

function registerFreeze(group: Command, cli: Cli, frozen: boolean): void {
  const command = group
    .command(frozen ? 'freeze' : 'unfreeze')
    .description(frozen ? 'let no effect begin in a target' : 'let effects begin again')
    .argument('<name>', 'the target')
    .option('--reason <text>', 'why')
    .option('--operator-key <file>', 'the operator key that signs it');
  addAction(command, cli, async (io, [target = ''], options) => {
    const reason = requiredOption(options, '--reason');
    const operatorKey = requiredOption(options, '--operator-key');
    const { freezeTarget } = await io.host.remote.operator();
    const n = await freezeTarget(io.host.env, { target, frozen, reason, operatorKey });
    if (io.json) io.out.json({ target, frozen, n });
    else io.out.line(line`${target}  ${frozen ? 'frozen' : 'no longer frozen'}`);
    return ExitCode.Ok;
  });
}
