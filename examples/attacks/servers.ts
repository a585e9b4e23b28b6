import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDevClient, type DevClient } from '../../dev/client';
import { makeRepository, type GitRepository } from '../../dev/fixtures/git-repository';
import { startJsonApi, type JsonApi } from '../../dev/fixtures/json-api';
import { startDev, type Dev } from '../../dev/start';
import { startScriptedJudge } from '../demo/scripted-judge';
import { seedShop, SHOPS } from './shop';

const FOLDER = join(__dirname, '..', '..', '..', 'examples', 'attacks');
export const EXTENSIONS = [join(__dirname, '..', 'demo', 'extension.js'), join(__dirname, 'extension.js')].join(',');

export interface AttackServers {
  readonly dev: Dev;
  readonly client: DevClient;
  readonly bundleText: string;
  readonly repository: GitRepository;
  readonly api: JsonApi;
  readonly trust: { readonly operators: readonly string[]; readonly committers: readonly string[] };
  close(): Promise<void>;
}

/** Starts the servers and our processes with the targets `shop`, `shop2`, `repo` and `api`, each process as it ships. */
export async function startServers(say: (line: string) => void, breakers: boolean): Promise<AttackServers> {
  const stateDir = mkdtempSync(join(tmpdir(), 'countersign-attacks-'));
  const bundleText = readFileSync(join(FOLDER, 'countersign.policy.yaml'), 'utf8');
  // The judge objects only to diffs that contain "mallory".
  const judge = await startScriptedJudge({
    script: (message) =>
      message.includes('mallory')
        ? {
            concerns: [
              { policyId: 'personal_data', severity: 'BLOCK', lines: [1], quote: 'mallory', why: 'For mallory' },
            ],
          }
        : {},
  });
  const repository = makeRepository({ 'README.md': 'one\n' }, stateDir);
  const api = await startJsonApi({ on: false });
  const stopFakes = async (): Promise<void> => {
    await judge.stop();
    await api.stop();
    rmSync(stateDir, { recursive: true, force: true });
  };
  const dev = await startDev({
    stateDir,
    say,
    bundleText,
    targets: SHOPS.map((name) => ({ name, seed: seedShop })),
    otherTargets: [repository.target, api.target],
    judge: { baseUrl: judge.baseUrl, apiKey: 'scripted' },
    extensions: EXTENSIONS,
    variables: { review: { COUNTERSIGN_BREAKERS: breakers ? 'on' : 'off' } },
    gatewayPort: 0,
    runtime: { temporalPort: 0, uiPort: 0, fast: true },
  }).catch(async (error: unknown) => {
    await stopFakes();
    throw error;
  });
  const { operator, committer } = dev.setup.keys;
  const trust = { operators: [operator.key.publicKey], committers: [committer.key.publicKey] };
  const client = await openDevClient({
    setup: dev.setup,
    temporalAddress: dev.runtime.temporalAddress,
    namespace: dev.runtime.namespace,
    applicationName: 'attacks',
  });
  return {
    dev,
    client,
    bundleText,
    repository,
    api,
    trust,
    async close() {
      // The client stays open until the process exits: the SDK retries calls that an attack left behind, and a retry on a closed connection
      // ends the process with an error.
      await dev.stop();
      await stopFakes();
    },
  };
}
