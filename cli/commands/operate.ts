import type { Command } from 'commander';
import { required, runs, whole, text, type Cli } from '../command';
import { ExitCode } from '../exit-codes';
import { line, styled } from '../printer';
import { asOperator } from './resolve';

export function register(program: Command, cli: Cli): void {
  const dev = program
    .command('dev')
    .description('start everything here, until Ctrl-C')
    .option('--port <n>', 'port of the gateway');
  runs(dev, cli, async (io, _args, options) => {
    const port =
      text(options, 'port') === undefined
        ? undefined
        : whole(options, 'port', '--port', { min: 1, max: 65535, otherwise: 0 });
    await io.deps.runtime.dev({ port }, io.err.line, (facts) => {
      if (io.json) io.out.json(facts);
      else
        for (const [name, value] of Object.entries(facts))
          io.out.line(line`${styled('bold', name.padEnd(14))} ${value}`);
    });
    return ExitCode.Ok;
  });

  const setup = program.command('setup').description('prepare servers that exist: search attributes, schema');
  runs(setup, cli, async (io) => {
    const done = await io.deps.runtime.setup(io.err.line);
    if (io.json) io.out.json(done);
    for (const name of io.json ? [] : done.added) io.out.line(line`added   ${name}`);
    for (const name of io.json ? [] : done.present) io.out.line(line`present ${name}`);
    return ExitCode.Ok;
  });

  const target = program.command('target').description('prepare, freeze and unfreeze targets');
  const init = target
    .command('init')
    .description('make marker table, roles and grants in a target')
    .argument('<name>', 'the target')
    .option('--dry-run', 'print what would be done');
  runs(init, cli, async (io, [name = ''], options) => {
    const { done } = await io.deps.runtime.targetInit(name, { dryRun: options['dryRun'] === true }, io.err.line);
    if (io.json) io.out.json({ target: name, done });
    for (const step of io.json ? [] : done) io.out.block(step, '');
    return ExitCode.Ok;
  });

  for (const frozen of [true, false]) {
    const verb = frozen ? 'freeze' : 'unfreeze';
    const freeze = target
      .command(verb)
      .description(frozen ? 'let no effect begin in a target' : 'let effects begin again')
      .argument('<name>', 'the target')
      .option('--reason <text>', 'why')
      .option('--operator-key <file>', 'the operator key that signs it');
    runs(freeze, cli, async (io, [name = ''], options) => {
      const reason = required(options, 'reason', '--reason');
      const operatorKey = required(options, 'operatorKey', '--operator-key');
      const n = await asOperator(io, (tools) => tools.freeze({ target: name, frozen, reason, operatorKey }));
      if (io.json) io.out.json({ target: name, frozen, n });
      else io.out.line(line`${name}  ${frozen ? 'frozen' : 'not frozen any more'}`);
      return ExitCode.Ok;
    });
  }

  const doctor = program.command('doctor').description('check what Countersign needs here, and say what to do');
  runs(doctor, cli, async (io) => {
    const checks = await io.deps.runtime.doctor();
    const ok = checks.every((check) => check.ok);
    if (io.json) io.out.json({ ok, checks });
    for (const check of io.json ? [] : checks) {
      io.out.line(line`${check.ok ? styled('green', 'ok  ') : styled('red', 'FAIL')} ${check.name}: ${check.detail}`);
      if (check.fix !== null) io.out.block(check.fix, '       ');
    }
    return ok ? ExitCode.Ok : ExitCode.Failure;
  });
}
