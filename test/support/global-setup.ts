import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startRuntime } from '../../dev/embedded/runtime';
import { SEARCH_ATTRIBUTES } from '../../policy/contracts/search-attributes';
import type { PostgresServer } from '../../dev/embedded/postgres';
import type { PostgresPackage } from '../../dev/embedded/postgres-binaries';
import { ownPostgres, targetPostgres } from './older-postgres';
import { PACKED } from './packed-once';
import { startTestPostgres } from './test-server';
import { workflowBundle } from './workflow-bundle';

/** One real Temporal server and one real PostgreSQL for all system tests of a run; each test file has its own queues and databases. Concurrent runs need separate directories (COUNTERSIGN_TEST_STATE). */
export default async function globalSetup(): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const stateDir = process.env['COUNTERSIGN_TEST_STATE'] ?? join(__dirname, '..', '..', '.countersign', 'test');
  const servers: PostgresServer[] = [];
  (globalThis as { countersignServers?: PostgresServer[] }).countersignServers = servers;
  const started = async (postgres: PostgresPackage | undefined): Promise<string | undefined> => {
    if (postgres === undefined) return undefined;
    const server = await startTestPostgres(postgres);
    servers.push(server);
    return server.superuserUrl('postgres');
  };
  const own = await started(ownPostgres());
  const target = await started(targetPostgres());
  if (target !== undefined) process.env['COUNTERSIGN_TEST_TARGET_POSTGRES'] = target;
  const runtime = await startRuntime({
    stateDir,
    say,
    searchAttributes: SEARCH_ATTRIBUTES,
    temporalPort: 0,
    uiPort: 0,
    fast: true,
    handleSignals: true,
    ...(own === undefined ? {} : { env: { ...process.env, COUNTERSIGN_DATABASE_ADMIN_URL: own } }),
  });
  (globalThis as { countersignRuntime?: unknown }).countersignRuntime = runtime;
  process.env['COUNTERSIGN_TEST_TEMPORAL'] = runtime.temporalAddress;
  process.env['COUNTERSIGN_TEST_TEMPORAL_UI'] = runtime.uiUrl ?? '';
  process.env['COUNTERSIGN_TEST_NAMESPACE'] = runtime.namespace;
  process.env['COUNTERSIGN_TEST_CLI'] = runtime.temporalCliPath ?? '';
  process.env['COUNTERSIGN_TEST_POSTGRES'] = runtime.postgres.superuserUrl('postgres');
  process.env['COUNTERSIGN_TEST_BUNDLE'] = await bundle(stateDir);
  const packed = join(stateDir, 'packed');
  rmSync(packed, { recursive: true, force: true });
  process.env[PACKED] = packed;
}

/** The workers of all test files run this bundle, also while one of them compiles the sources again. */
async function bundle(stateDir: string): Promise<string> {
  const path = join(stateDir, 'workflow-bundle.js');
  const code = await workflowBundle();
  mkdirSync(stateDir, { recursive: true });
  writeFileSync(path, code);
  return path;
}
