import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres, type PostgresServer } from './embedded/postgres';
import type { Say } from './embedded/processes';

/** Runs `work` with a new folder, which is removed afterwards. */
export async function withTemporaryDir<T>(name: string, work: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), `countersign-${name}-`));
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** As `withTemporaryDir`, with a PostgreSQL on a free port that has its data in the folder. */
export function withTemporaryPostgres<T>(
  name: string,
  { say, fast = false }: { readonly say: Say; readonly fast?: boolean },
  work: (postgres: PostgresServer, stateDir: string) => Promise<T>,
): Promise<T> {
  return withTemporaryDir(name, async (stateDir) => {
    const postgres = await startEmbeddedPostgres({ stateDir, say, fast, port: 0 });
    try {
      return await work(postgres, stateDir);
    } finally {
      await postgres.stop();
    }
  });
}
