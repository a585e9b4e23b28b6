import { Command, CommanderError, type Help, type Option } from 'commander';
import type { Cli } from './action';
import * as archive from './archive/command';
import * as breaker from './breaker/command';
import { escapeLine } from '../policy/text/escape';
import * as evidence from './evidence/command';
import * as ledger from './evidence/ledger-command';
import { hintFor } from './command-hints';
import { ExitCode } from './exit-codes';
import * as gateway from './gateway/command';
import type { Host } from './host';
import * as init from './init/command';
import * as judge from './judge/command';
import * as keys from './keys/command';
import * as resolve from './operator/resolve';
import * as target from './operator/target';
import * as policy from './policy/command';
import * as answer from './reviews/answer';
import * as follow from './reviews/follow';
import * as list from './reviews/list';
import * as show from './reviews/show';
import * as submit from './reviews/submit';
import * as withdraw from './reviews/withdraw';
import * as servers from './servers/command';

export type { Host } from './host';
export { ExitCode } from './exit-codes';

/** In the order of the help. */
const GROUPS = [
  submit,
  list,
  show,
  answer,
  follow,
  withdraw,
  resolve,
  keys,
  ledger,
  judge,
  evidence,
  archive,
  breaker,
  init,
  servers,
  gateway,
  target,
  policy,
];

/** Runs one command line (without node and script) and returns its exit code. Never exits the process. */
export async function runCli(args: readonly string[], host: Host): Promise<ExitCode> {
  const cli: Cli = { host, exitCode: ExitCode.Ok };
  const [word = ''] = args;
  const hint = hintFor(word);
  if (hint !== null) {
    host.stderr.write(`error: unknown command '${word}'\n${hint}\n`);
    return ExitCode.Usage;
  }
  try {
    await createProgram(cli).parseAsync([...args], { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? ExitCode.Ok : ExitCode.Usage;
  }
}

function createProgram(cli: Cli): Command {
  const { host } = cli;
  const program = new Command('countersign')
    .description('Reviews the changes that AI agents propose, before they are committed.')
    .version(host.version)
    .showHelpAfterError('(see --help)')
    .configureOutput({
      writeOut: (text) => void host.stdout.write(text),
      writeErr: (text) => void host.stderr.write(escapeOutput(text)),
      getOutHelpWidth: () => 80,
      getErrHelpWidth: () => 80,
    });
  for (const group of GROUPS) group.register(program, cli);
  program.configureHelp({ formatHelp: rootHelp });
  return inheritSettings(program);
}

/** Commander copies these settings only to commands that are added later. */
function inheritSettings(command: Command): Command {
  command.exitOverride();
  for (const option of command.options) if (option.required && option.parseArg === undefined) takeOnce(command, option);
  for (const child of command.commands) inheritSettings(child.copyInheritedSettings(command));
  return command;
}

/** Otherwise the last of two values would count, and the first be ignored. The message has no value, which can be a password. */
function takeOnce(command: Command, option: Option): void {
  option.argParser<string | undefined>((value, before) =>
    before === undefined ? value : command.error(`error: ${String(option.long)} was given twice`),
  );
}

/** Commander's message about a wrong option repeats that option, which is untrusted text. */
function escapeOutput(text: string): string {
  return text.split('\n').map(escapeLine).join('\n');
}

/** Commands that are listed without a description. */
const RARE: readonly string[] = ['replay', 'setup', 'logout', 'whoami', 'archive', 'watch'];

/** The help of the program, on one screen: a line for each command, then the groups. Commands have their own format. */
function rootHelp(command: Command, help: Help): string {
  if (command.parent !== null) return commandHelp(command, help);
  const commands = listed(command, help);
  const isShort = (child: Command): boolean => child.commands.length > 0 || RARE.includes(child.name());
  const single = commands.filter((child) => !isShort(child));
  const groups = commands.filter(isShort);
  const width = Math.max(...single.map((child) => names(child).length));
  return [
    'Usage: countersign <command>',
    command.description(),
    ...single.map((child) => `  ${names(child).padEnd(width)}  ${child.description()}`),
    ...wrap(groups.map(names), '  ', 78).map((text) => `  ${text}`),
    'Each takes --json, --no-color, --no-input and --help.',
    'Exit codes: 0 ok, 1 failure, 2 usage, 8 pending, 10 rejected or forbidden,',
    '            11 expired, 12 stale, 13 not eligible, 14 verification failed',
    '',
  ].join('\n');
}

/** The commands that the help of a command lists: without `help`, which Commander adds. */
function listed(command: Command, help: Help): Command[] {
  return help.visibleCommands(command).filter((child) => child.name() !== 'help');
}

/** Lines of at most `width` characters, with `space` between words. */
function wrap(words: readonly string[], space: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + space.length + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last + space + word;
  }
  return lines;
}

function names(command: Command): string {
  const children = command.commands.map((child) => child.name()).join('|');
  return children === '' ? command.name() : `${command.name()} ${children}`;
}

function commandHelp(command: Command, help: Help): string {
  const rows = [
    ...help
      .visibleArguments(command)
      .map((argument) => [help.argumentTerm(argument), help.argumentDescription(argument)]),
    ...listed(command, help).map((child) => [
      help.subcommandTerm(child).replace(' [options]', ''),
      help.subcommandDescription(child),
    ]),
    ...help.visibleOptions(command).map((option) => [help.optionTerm(option), help.optionDescription(option)]),
  ];
  const width = Math.max(0, ...rows.map(([term = '']) => term.length));
  return [
    `Usage: ${help.commandUsage(command)}`,
    ...command
      .description()
      .split('\n')
      .flatMap((text) => wrap(text.split(' '), ' ', 80)),
    '',
    ...rows.flatMap(([term = '', text = '']) =>
      wrap(text.split(' '), ' ', 76 - width).map((part, i) => `  ${(i === 0 ? term : '').padEnd(width)}  ${part}`),
    ),
    '',
  ].join('\n');
}
