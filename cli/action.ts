import type { Command } from 'commander';
import { CountersignError, messageOf } from '../client/errors';
import type { ExitCode } from './exit-codes';
import type { GatewaySettings } from './gateway/settings';
import { exitCodeForError } from './exit-code-for';
import type { Host } from './host';
import { isGiven, type Options } from './options';
import { createPrinter, line, styled, wantsColor, type Printer } from './printer';
import type { Connected, ConnectOptions } from './reviews/connection';
import { UsageError } from './usage-error';

/** What an action works with: data goes to standard output, everything else to standard error. */
export interface Io {
  readonly host: Host;
  readonly out: Printer;
  readonly err: Printer;
  readonly json: boolean;
  /** Whether to prompt for missing values: standard input is a terminal and --no-input was not given. */
  readonly interactive: boolean;
  /** Connects to the gateway, or to Temporal and PostgreSQL, for the duration of `work`. */
  readonly withReviews: <T>(options: ConnectOptions, work: (connected: Connected) => Promise<T>) => Promise<T>;
}

export type Action = (io: Io, args: readonly string[], options: Options) => Promise<ExitCode>;

/** One run of the program: commands leave their exit code here. */
export interface Cli {
  readonly host: Host;
  exitCode: ExitCode;
}

/** Adds the options that every command has, and runs `action` with streams, colours, errors and the exit code set up. */
export function addAction(command: Command, cli: Cli, action: Action): Command {
  return command
    .option('--json', 'print one JSON document')
    .option('--no-color', 'no colours')
    .option('--no-input', 'never prompt; fail and name the missing option')
    .action(async (...called: unknown[]) => {
      const options = command.optsWithGlobals<Options>();
      const args = called
        .slice(0, command.registeredArguments.length)
        .flat()
        .filter((arg) => arg !== undefined);
      cli.exitCode = await perform(action, createIo(cli.host, options), args.map(String), options);
    });
}

function createIo(host: Host, options: Options): Io {
  const color = options['color'] !== false;
  const err = createPrinter(host.stderr, wantsColor(host.stderr, host.env, color));
  const io: Io = {
    host,
    out: createPrinter(host.stdout, wantsColor(host.stdout, host.env, color)),
    err,
    json: isGiven(options, '--json'),
    interactive: host.stdin.isTTY === true && options['input'] !== false,
    async withReviews(connect, work) {
      const connected = await openConnection(io, connect);
      try {
        return await work(connected);
      } catch (error) {
        if (!io.json) sayWhere(err, connected, error);
        throw error;
      } finally {
        await connected.close();
      }
    },
  };
  return io;
}

/** Through a gateway if one is configured, and otherwise to PostgreSQL and Temporal. */
async function openConnection(io: Io, options: ConnectOptions): Promise<Connected> {
  const { env, remote } = io.host;
  const gateway = await announcedGateway(io);
  if (gateway === null) return (await remote.reviews()).connect(env, options);
  return (await remote.gateway()).connectGateway(env, gateway, options);
}

/** The error of a client does not name the server that did not answer. */
function sayWhere(err: Printer, { temporal }: Connected, error: unknown): void {
  if (temporal === null || !(error instanceof CountersignError) || error.code !== 'temporal_unavailable') return;
  err.line(
    line`Temporal is expected at ${temporal.address}, namespace ${temporal.namespace}; countersign doctor checks it`,
  );
}

/** The gateway that commands here use, or null. Says so on standard error if the login, a state directory or variables name another place. */
export async function announcedGateway(io: Io): Promise<GatewaySettings | null> {
  const { placeOf } = await import('./gateway/place.js');
  const { gateway, note } = placeOf(io.host);
  if (note !== null) sayNote(io, note);
  return gateway;
}

/** On standard error; with --json as JSON, as an error is. */
export function sayNote({ err, json }: Io, note: string): void {
  if (json) err.json({ note });
  else err.line(note);
}

async function perform(action: Action, io: Io, args: readonly string[], options: Options): Promise<ExitCode> {
  try {
    const { assertCliEnv } = await import('../workers/config.js');
    assertCliEnv(io.host.env);
    return await action(io, args, options);
  } catch (error) {
    reportError(io, error);
    return exitCodeForError(error);
  }
}

function reportError(io: Io, error: unknown): void {
  const message = messageOf(error);
  const code = error instanceof UsageError ? 'usage' : error instanceof CountersignError ? error.code : 'internal';
  const field = error instanceof CountersignError ? error.field : undefined;
  if (io.json) io.err.json({ error: { code, ...(field === undefined ? {} : { field }), message } });
  else {
    const [first = '', ...rest] = message.trimEnd().split('\n');
    io.err.line(line`${styled('red', 'error')}: ${first}`);
    // Indented, so that untrusted text in a message cannot imitate a line of this program.
    if (rest.length > 0) io.err.block(rest.join('\n'), '  ');
  }
}

/** Prompts for a value that was not given; without a terminal, throws a UsageError that names the option. */
export async function promptFor(io: Io, question: string, option: string): Promise<string> {
  if (!io.interactive) throw new UsageError(`${option} is missing, and there is no terminal to ask on`);
  return (await io.host.prompt(question)).trim();
}
