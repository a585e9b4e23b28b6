import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { listenOnReusablePort } from '../../../support/listening-port';
import { postgresUser } from '../../../../dev/embedded/postgres-binaries';

jest.setTimeout(60_000);

/** Binaries of a PostgreSQL before 18 on PATH, to test a second version. Null if there is none. */
export function olderPostgres(): { readonly bin: string; readonly version: string } | null {
  for (const dir of (process.env['PATH'] ?? '').split(delimiter)) {
    const program = join(dir, 'postgres');
    if (dir === '' || !existsSync(program)) continue;
    const bin = dirname(realpathSync(program));
    const version = /\d+(\.\d+)?/.exec(execFileSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }))?.[0];
    if (version !== undefined && Number.parseInt(version, 10) < 18 && existsSync(join(bin, 'initdb')))
      return { bin, version };
  }
  return null;
}

/** Starts the server on loopback with trust authentication. Returns the superuser's URL and a function that stops it. */
export async function startOlderPostgres(
  bin: string,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const runAs = await postgresUser(() => {});
  const dir = mkdtempSync(join(tmpdir(), 'countersign-older-'));
  if (runAs !== undefined) chownSync(dir, runAs.uid, runAs.gid);
  const data = join(dir, 'data');
  const options = { ...runAs, cwd: dir, stdio: 'ignore' } as const;
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
    options,
  );
  const port = await freePort();
  const args = [
    '-D',
    data,
    '-p',
    String(port),
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `unix_socket_directories=${dir}`,
  ];
  const child = spawn(join(bin, 'postgres'), [...args, '-c', 'fsync=off'], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('ready to accept connections')) resolve();
    });
    child.on('exit', () => reject(new Error(said)));
  });
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      child.removeAllListeners('exit');
      child.kill('SIGINT');
      await once(child, 'exit');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnReusablePort(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
