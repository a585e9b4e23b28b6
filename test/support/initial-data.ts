import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../dev/embedded/postgres';
import { findPostgresBinaries, postgresUser, type PostgresPackage } from '../../dev/embedded/postgres-binaries';
import { ROOT } from './root';

const silent = (): void => {};

/**
 * Copies the data of a new PostgreSQL server to a folder, for a server that is started there: initdb takes most of a second of CPU. The
 * data is created once for each version of PostgreSQL and of the code that calls initdb, and kept.
 */
export async function initialData(stateDir: string, postgres?: PostgresPackage): Promise<void> {
  const { version } = findPostgresBinaries(await postgresUser(silent), silent, process.env, postgres);
  const source = readFileSync(join(ROOT, 'dev', 'embedded', 'postgres-data.ts'));
  const code = createHash('sha256').update(source).digest('hex').slice(0, 12);
  const kept = join(ROOT, '.countersign', 'test', 'initial-data', `${version}-${code}`);
  if (!existsSync(kept)) await create(kept, postgres);
  copy(kept, stateDir);
}

async function create(kept: string, postgres?: PostgresPackage): Promise<void> {
  const building = mkdtempSync(join(tmpdir(), 'countersign-pg-'));
  // The user that PostgreSQL runs as must be able to traverse it.
  chmodSync(building, 0o711);
  // Copied elsewhere and renamed, so that a partial copy is never used.
  const partial = `${kept}.${process.pid}`;
  try {
    await (await startEmbeddedPostgres({ stateDir: building, say: silent, fast: true, postgres })).stop();
    mkdirSync(partial, { recursive: true });
    copy(building, partial);
    renameSync(partial, kept);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(kept)) throw error;
  } finally {
    for (const path of [building, partial]) rmSync(path, { recursive: true, force: true });
  }
}

/** Keeps owners and modes. */
function copy(from: string, to: string): void {
  const parts = ['postgres', 'postgres.password'].map((name) => join(from, name));
  execFileSync('cp', ['-a', ...parts, to]);
}
