import { Command, CommanderError } from 'commander';
import type { Cli } from './command';
import * as answer from './commands/answer';
import * as breaker from './commands/breaker';
import * as evidence from './commands/evidence';
import * as follow from './commands/follow';
import * as judge from './commands/judge';
import * as keys from './commands/keys';
import * as ledger from './commands/ledger';
import * as list from './commands/list';
import * as operate from './commands/operate';
import * as policy from './commands/policy';
import * as resolve from './commands/resolve';
import * as show from './commands/show';
import * as submit from './commands/submit';
import * as withdraw from './commands/withdraw';
import type { CliDeps } from './deps';
import { ExitCode } from './exit-codes';
import { rootHelp } from './root-help';
import { escapeLine } from './escape';

export type { CliDeps } from './deps';
export { ExitCode } from './exit-codes';

/** In the order of the help. A new group of commands is one file and one line here. */
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
  evidence,
  breaker,
  operate,
  judge,
  policy,
];

/** The program, its commands registered. `cli.exitCode` holds what the command that ran left. */
export function createCli(deps: CliDeps, cli: Cli = { deps, exitCode: ExitCode.Ok }): Command {
  const program = new Command('countersign')
    .description('Holds what an AI agent wrote until it is countersigned.')
    .version(deps.version)
    .helpCommand(false)
    .showHelpAfterError('(see --help)')
    .configureOutput({
      writeOut: (text) => void deps.stdout.write(text),
      writeErr: (text) => void deps.stderr.write(talk(text)),
      getOutHelpWidth: () => 80,
      getErrHelpWidth: () => 80,
    });
  for (const group of GROUPS) group.register(program, cli);
  program.configureHelp({ formatHelp: rootHelp });
  return settled(program);
}

/** Runs one command line (without node and script) and answers with the exit code; never throws, never exits the process. */
export async function runCli(args: readonly string[], deps: CliDeps): Promise<ExitCode> {
  const cli: Cli = { deps, exitCode: ExitCode.Ok };
  try {
    await createCli(deps, cli).parseAsync([...args], { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? ExitCode.Ok : ExitCode.Usage;
  }
}

/** Commander does not hand these down to commands that exist already. */
function settled(command: Command): Command {
  command.exitOverride();
  for (const child of command.commands) settled(child.copyInheritedSettings(command));
  return command;
}

// What commander says of a wrong option holds that option: text from outside.
function talk(text: string): string {
  return text.split('\n').map(escapeLine).join('\n');
}
