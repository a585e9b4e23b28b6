import type { Command } from 'commander';
import { CountersignError } from '../client/errors';
import type { CliDeps, Connected, ConnectOptions } from './deps';
import type { ExitCode } from './exit-codes';
import { exitOfError } from './exit-of';
import { createPrinter, line, styled, wantsColor, type Printer } from './printer';
import { UsageError } from './usage-error';

/** What an action works with: standard output for data, standard error for talk. */
export interface Io {
  readonly deps: CliDeps;
  readonly out: Printer;
  readonly err: Printer;
  readonly json: boolean;
  /** Whether a person can be asked: standard input is a terminal, and nobody said --no-input. */
  readonly interactive: boolean;
  /** Connects, works, closes. */
  readonly connected: <T>(options: ConnectOptions, work: (connected: Connected) => Promise<T>) => Promise<T>;
}

export type Options = Readonly<Record<string, string | boolean | undefined>>;
export type Action = (io: Io, args: readonly string[], options: Options) => Promise<ExitCode>;

/** Adds the options that every command has, and runs the action with streams, colours, errors and exit code in their one way. */
export function runs(command: Command, cli: Cli, action: Action): Command {
  return command
    .option('--json', 'print one JSON document')
    .option('--no-color', 'no colours')
    .option('--no-input', 'never ask; fail and name the missing option')
    .action(async (...called: unknown[]) => {
      const options = command.optsWithGlobals<Options>();
      const args = called
        .slice(0, command.registeredArguments.length)
        .flat()
        .filter((arg) => arg !== undefined);
      cli.exitCode = await perform(action, createIo(cli.deps, options), args.map(String), options);
    });
}

/** One run of the program: where commands leave their exit code. */
export interface Cli {
  readonly deps: CliDeps;
  exitCode: ExitCode;
}

export function createIo(deps: CliDeps, options: Options): Io {
  const color = options['color'] !== false;
  const connected: Io['connected'] = async (connect, work) => {
    const connection = await deps.connect(connect);
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  };
  return {
    deps,
    out: createPrinter(deps.stdout, wantsColor(deps.stdout, deps.env, color)),
    err: createPrinter(deps.stderr, wantsColor(deps.stderr, deps.env, color)),
    json: options['json'] === true,
    interactive: deps.stdin.isTTY === true && options['input'] !== false,
    connected,
  };
}

async function perform(action: Action, io: Io, args: readonly string[], options: Options): Promise<ExitCode> {
  try {
    return await action(io, args, options);
  } catch (error) {
    complain(io, error);
    return exitOfError(error);
  }
}

function complain(io: Io, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof UsageError ? 'usage' : error instanceof CountersignError ? error.code : 'internal';
  const field = error instanceof CountersignError ? error.field : undefined;
  if (io.json) io.err.json({ error: { code, ...(field === undefined ? {} : { field }), message } });
  else {
    const [first = '', ...rest] = message.trimEnd().split('\n');
    io.err.line(line`${styled('red', 'error')}: ${first}`);
    // Behind a gutter, so that no line of a stranger's text begins as ours do.
    if (rest.length > 0) io.err.block(rest.join('\n'), '  ');
  }
}

/** Asks for what was not given, or fails and says which option gives it. */
export async function ask(io: Io, question: string, option: string): Promise<string> {
  if (!io.interactive) throw new UsageError(`${option} is missing, and nobody can be asked here`);
  return (await io.deps.prompt(question)).trim();
}

/** A text option; undefined where it was not given. */
export function text(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** A required text option. */
export function required(options: Options, name: string, flag: string): string {
  const value = text(options, name);
  if (value === undefined || value === '') throw new UsageError(`${flag} is missing`);
  return value;
}

/** A whole number option within bounds, in its unit. */
export function whole(
  options: Options,
  name: string,
  flag: string,
  bounds: { readonly min: number; readonly max: number; readonly otherwise: number },
): number {
  const value = text(options, name);
  if (value === undefined) return bounds.otherwise;
  const number = Number(value);
  if (value.trim() !== '' && Number.isInteger(number) && number >= bounds.min && number <= bounds.max) return number;
  throw new UsageError(`${flag}: expected a whole number from ${bounds.min} to ${bounds.max}, got "${value}"`);
}
