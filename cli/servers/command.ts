import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { integerOption, isGiven, nonEmptyOption, type Options } from '../options';
import { line, styled } from '../printer';
import { shellQuote } from '../shell-quote';
import { UsageError } from '../usage-error';
import { printChecks } from '../doctor/check';

export function register(program: Command, cli: Cli): void {
  const dev = program
    .command('dev')
    .description('start all servers and workers here, until Ctrl-C')
    .option('--port <n>', 'port of the gateway')
    .option('--rotate', 'replace unknown passwords of roles on your own server');
  addAction(dev, cli, startDevelopment);

  const setup = program.command('setup').description('the part of init for containers: search attributes, schema');
  addAction(setup, cli, setUpServers);

  const up = program
    .command('up')
    .description('run all processes from a directory of init, until Ctrl-C')
    .argument('[dir]', 'the directory (default: .countersign)');
  addAction(up, cli, runUp);

  const doctor = program
    .command('doctor')
    .description('check what Countersign needs here, and say what to do')
    .option('--offline', 'only what can be checked before the processes run')
    .option('--replay', 'replay the histories of open and recent reviews too')
    .option('--build <id>', 'with --replay: those of this build id');
  addAction(doctor, cli, runDoctor);
}

async function startDevelopment(io: Io, _args: readonly string[], options: Options): Promise<ExitCode> {
  const port = integerOption(options, '--port', { min: 1, max: 65535, default: undefined });
  const { runDev } = await io.host.remote.dev();
  await runDev(
    io.host.env,
    { port, rotate: isGiven(options, '--rotate') },
    io.err.line,
    (facts, { target, sourceTool }) => {
      if (io.json) io.out.json(facts);
      else {
        const { targets, ...others } = facts;
        const urls = Object.entries(targets).map(([name, url]) => [`target ${name}`, url] as const);
        for (const [name, value] of [...Object.entries(others), ...urls])
          io.out.line(line`${styled('bold', name.padEnd(14))} ${value}`);
      }
      const operatorKey = shellQuote(join(facts.keys, 'operator.key.json'));
      io.err.line(line`submit a change: countersign submit FILE --target ${target} --tool ${sourceTool}`);
      io.err.line(
        line`answer in the inbox: countersign keys enroll alice --tenant default --operator-key ${operatorKey}`,
      );
    },
  );
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

async function runDoctor(io: Io, _args: readonly string[], options: Options): Promise<ExitCode> {
  const build = nonEmptyOption(options, '--build');
  const replay = isGiven(options, '--replay');
  if (build !== undefined && !replay) throw new UsageError('--build: expected --replay as well');
  const { doctor } = await io.host.remote.doctor();
  const checks = await doctor(io.host.env, { offline: isGiven(options, '--offline'), replay, build });
  const ok = checks.every((check) => check.ok);
  if (io.json) io.out.json({ ok, checks });
  else printChecks(io.out, checks);
  return ok ? ExitCode.Ok : ExitCode.Failure;
}

async function runUp(io: Io, [dir = '.countersign']: readonly string[]): Promise<ExitCode> {
  const { up } = await io.host.remote.up();
  await up(resolve(dir), io.err.line, ({ gateway, inbox }) => {
    if (io.json) io.out.json({ gateway, inbox });
    else {
      io.out.line(line`${styled('bold', 'gateway')}  ${gateway}`);
      io.out.line(line`${styled('bold', 'inbox')}    ${inbox}`);
    }
  });
  return ExitCode.Ok;
}
