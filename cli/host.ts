import type { Env } from '../workers/config';
import type { Sink } from './printer';
import { readAtMost } from './read-at-most';
import { UsageError } from './usage-error';
import { remoteModules, type RemoteModules } from './remote-modules';

/** What commands use of the process around them. Tests substitute parts of it. */
export interface Host {
  readonly version: string;
  /** Variables of the shell, then those of the state directory. */
  readonly env: Env;
  /** Only variables of the shell, for a command that names its directory. */
  readonly shellEnv: Env;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly stdin: {
    readonly isTTY?: boolean | undefined;
    /** Reads to the end of input; throws if there are more than `max` bytes. */
    readonly read: (max: number) => Promise<Uint8Array>;
  };
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
  /** Asks on the terminal. Called only if standard input is a terminal. */
  readonly prompt: (question: string) => Promise<string>;
  readonly remote: RemoteModules;
}

/** The host of the real program. */
export function processHost(version: string, env: Env, shellEnv = env): Host {
  return {
    version,
    env,
    shellEnv,
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: { isTTY: process.stdin.isTTY, read: (max) => readAtMost(process.stdin, max, 'standard input') },
    now: () => new Date(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    prompt,
    remote: remoteModules,
  };
}

async function prompt(question: string): Promise<string> {
  const { createInterface } = await import('node:readline');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise((resolve, reject) => {
      // Of an unanswered question nothing else is called, and the process would exit with 0.
      terminal.once('close', () => reject(new UsageError('The input ended before an answer; nothing was done')));
      terminal.question(`${question} `, resolve);
    });
  } finally {
    terminal.close();
  }
}
