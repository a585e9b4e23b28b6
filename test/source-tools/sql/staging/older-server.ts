import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { useExistingPostgres, type PostgresServer } from '../../../../dev/embedded/postgres';
import { postgresUser } from '../../../../dev/embedded/postgres-binaries';
import { reusablePort } from '../../../support/listening-port';

jest.setTimeout(60_000);

/** Set by `.ci/run`: the tests on an older server must run. */
const REQUIRED = 'COUNTERSIGN_TEST_OLDER_POSTGRES';
export const IS_OLDER_REQUIRED = process.env[REQUIRED] === 'required';
const PASSWORD = 'superuser-password';

export interface OlderPostgres {
  readonly bin: string;
  /** Such as `15.18`. */
  readonly version: string;
}

/** An installed PostgreSQL 14 to 17: on PATH, or where Debian installs it. Null if there is none. */
export function olderPostgres(): OlderPostgres | null {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((dir) => dir !== '');
  const debian = [15, 17, 16, 14].map((major) => `/usr/lib/postgresql/${major}/bin`);
  for (const dir of [...path, ...debian]) {
    const program = join(dir, 'postgres');
    if (!existsSync(program)) continue;
    const bin = dirname(realpathSync(program));
    const version = /\d+(\.\d+)?/.exec(execFileSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }))?.[0];
    const major = Number.parseInt(version ?? '', 10);
    if (version !== undefined && major >= 14 && major < 18 && existsSync(join(bin, 'initdb'))) return { bin, version };
  }
  if (IS_OLDER_REQUIRED)
    throw new Error(`${REQUIRED} is set, but no PostgreSQL 14 to 17 is installed; run .ci/install-postgresql-15`);
  return null;
}

/** Starts the server on loopback with password authentication and without durability. */
export async function startOlderPostgres({ bin }: OlderPostgres): Promise<PostgresServer> {
  const runAs = await postgresUser(() => {});
  const dir = mkdtempSync(join(tmpdir(), 'countersign-older-'));
  const passwordFile = join(dir, 'password');
  writeFileSync(passwordFile, PASSWORD);
  if (runAs !== undefined) for (const path of [dir, passwordFile]) chownSync(path, runAs.uid, runAs.gid);
  const data = join(dir, 'data');
  const options = { ...runAs, cwd: dir, stdio: 'ignore' } as const;
  const initdb = [
    '-U',
    'postgres',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--locale=C',
  ];
  execFileSync(join(bin, 'initdb'), ['-D', data, ...initdb, '--no-sync'], options);
  const port = await reusablePort();
  const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${dir}`, 'fsync=off'];
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawn(join(bin, 'postgres'), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise<void>((resolve, reject) => {
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('ready to accept connections')) resolve();
    });
    child.on('exit', () => reject(new Error(said)));
  });
  const server = await useExistingPostgres(`postgresql://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`, () => {});
  return {
    ...server,
    stop: async () => {
      child.removeAllListeners('exit');
      child.kill('SIGINT');
      await once(child, 'exit');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
