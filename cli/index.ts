import { Command, CommanderError } from 'commander';
import type { Cli } from './action';
import * as archive from './archive/command';
import * as breaker from './breaker/command';
import { escapeLine } from '../policy/text/escape';
import * as evidence from './evidence/command';
import * as ledger from './evidence/ledger-command';
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
import { rootHelp } from './root-help';
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
    .helpCommand(false)
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
  for (const child of command.commands) inheritSettings(child.copyInheritedSettings(command));
  return command;
}

/** Commander's message about a wrong option repeats that option, which is untrusted text. */
function escapeOutput(text: string): string {
  return text.split('\n').map(escapeLine).join('\n');
}
