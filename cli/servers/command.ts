import type { Command } from 'commander';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { integerOption, textOption, type Options } from '../options';
import { line, styled } from '../printer';

export function register(program: Command, cli: Cli): void {
  const dev = program
    .command('dev')
    .description('start all servers and workers here, until Ctrl-C')
    .option('--port <n>', 'port of the gateway');
  addAction(dev, cli, startDevelopment);

  const setup = program.command('setup').description('prepare existing servers: search attributes, schema');
  addAction(setup, cli, setUpServers);

  const doctor = program.command('doctor').description('check what Countersign needs here, and say what to do');
  addAction(doctor, cli, runDoctor);
}

async function startDevelopment(io: Io, _args: readonly string[], options: Options): Promise<ExitCode> {
  const port =
    textOption(options, 'port') === undefined
      ? undefined
      : integerOption(options, 'port', '--port', { min: 1, max: 65535, default: 0 });
  const { runDev } = await io.host.remote.dev();
  await runDev(io.host.env, { port }, io.err.line, (facts) => {
    if (io.json) io.out.json(facts);
    else
      for (const [name, value] of Object.entries(facts)) io.out.line(line`${styled('bold', name.padEnd(14))} ${value}`);
  });
  return ExitCode.Ok;
}

async function setUpServers(io: Io): Promise<ExitCode> {
  const { setUp } = await io.host.remote.setup();
  const { added, present } = await setUp(io.host.env, io.err.line);
  if (io.json) io.out.json({ added, present });
  else {
    for (const name of added) io.out.line(line`added   ${name}`);
    for (const name of present) io.out.line(line`present ${name}`);
  }
  return ExitCode.Ok;
}

async function runDoctor(io: Io): Promise<ExitCode> {
  const { doctor } = await io.host.remote.doctor();
  const checks = await doctor(io.host.env);
  const ok = checks.every((check) => check.ok);
  if (io.json) io.out.json({ ok, checks });
  else
    for (const check of checks) {
      const [first = '', ...rest] = check.detail.split('\n');
      io.out.line(line`${check.ok ? styled('green', 'ok  ') : styled('red', 'FAIL')} ${check.name}: ${first}`);
      if (rest.length > 0) io.out.block(rest.join('\n'), '       ');
      if (check.fix !== null) io.out.block(check.fix, '       ');
    }
  return ok ? ExitCode.Ok : ExitCode.Failure;
}
