import type { Command, Help } from 'commander';

/** Commands that are listed without a description. */
const RARE: readonly string[] = ['replay', 'setup', 'logout', 'whoami', 'archive', 'watch'];

/** The help of the program, on one screen: a line for each command, then the groups. Commands have their own format. */
export function rootHelp(command: Command, help: Help): string {
  if (command.parent !== null) return commandHelp(command, help);
  const commands = help.visibleCommands(command);
  const isShort = (child: Command): boolean => child.commands.length > 0 || RARE.includes(child.name());
  const single = commands.filter((child) => !isShort(child));
  const groups = commands.filter(isShort);
  const width = Math.max(...single.map((child) => names(child).length));
  return [
    'Usage: countersign <command>',
    command.description(),
    ...single.map((child) => `  ${names(child).padEnd(width)}  ${child.description()}`),
    ...wrap(groups.map(names)),
    'Each takes --json, --no-color, --no-input and --help.',
    'Exit codes: 0 ok, 1 failure, 2 usage, 8 pending, 10 rejected or forbidden,',
    '            11 expired, 12 stale, 13 not eligible, 14 verification failed',
    '',
  ].join('\n');
}

function wrap(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 2 > 80) lines.push(`  ${word}`);
    else lines[lines.length - 1] = `${last}  ${word}`;
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
    ...help.visibleCommands(command).map((child) => [help.subcommandTerm(child), help.subcommandDescription(child)]),
    ...help.visibleOptions(command).map((option) => [help.optionTerm(option), help.optionDescription(option)]),
  ];
  const width = Math.max(0, ...rows.map(([term = '']) => term.length));
  return [
    `Usage: ${help.commandUsage(command)}`,
    command.description(),
    '',
    ...rows.map(([term = '', text = '']) => `  ${term.padEnd(width)}  ${text}`),
    '',
  ].join('\n');
}
