import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli, type Host } from '../../cli';
import type { RemoteModules } from '../../cli/remote-modules';
import { failing } from '../client/fakes';

type RemoteModule<Name extends keyof RemoteModules> = Awaited<ReturnType<RemoteModules[Name]>>;
/** Replaces functions of the parts that reach a server; every other function throws. */
export type FakeRemote = { readonly [Name in keyof RemoteModules]?: Partial<RemoteModule<Name>> };

export interface RunOptions {
  readonly remote?: FakeRemote;
  readonly host?: Partial<Host>;
  /** Whether standard streams are terminals; false by default. */
  readonly tty?: boolean;
  readonly stdin?: string | Uint8Array;
}

export interface CommandRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one command line of the CLI in this process. */
export async function runCommand(args: readonly string[], options: RunOptions = {}): Promise<CommandRun> {
  const { remote = {}, tty = false, stdin = '' } = options;
  let [out, err] = ['', ''];
  const modules = Object.entries(remote).map(([name, module]) => [name, async () => failing<object>(module)]);
  const host: Host = {
    version: '9.9.9',
    env: {},
    shellEnv: options.host?.env ?? {},
    stdout: { write: (text) => (out += text), isTTY: tty, columns: 100 },
    stderr: { write: (text) => (err += text), isTTY: tty, columns: 100 },
    stdin: { isTTY: tty, read: async () => (typeof stdin === 'string' ? new TextEncoder().encode(stdin) : stdin) },
    now: () => new Date('2026-11-20T10:00:00.000Z'),
    sleep: async () => undefined,
    prompt: () => Promise.reject(new Error('no prompt is expected')),
    remote: failing<RemoteModules>(Object.fromEntries(modules) as Partial<RemoteModules>),
    ...options.host,
  };
  return { code: await runCli(args, host), out, err };
}

/** A folder for the files of one test file; `path` is where a name is, `write` puts a file there. */
export function temporaryFolder(): {
  readonly path: (name: string) => string;
  readonly write: (name: string, content: string | Uint8Array) => string;
} {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-cli-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const path = (name: string): string => join(folder, name);
  return {
    path,
    write(name, content) {
      writeFileSync(path(name), content);
      return path(name);
    },
  };
}
