import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDevClient, type DevClient } from '../dev/client';
import { startDev, type Dev, type DevOptions } from '../dev/start';
import { startScriptedJudge } from '../examples/demo/scripted-judge';
import { seedItems, shopPolicy, type PolicyParts } from './shop';

/** Name of the client of `withShop` in PostgreSQL. */
export const CLIENT = 'bench';

interface ShopOptions extends Pick<DevOptions, 'say'> {
  readonly policy?: PolicyParts;
  /** Of the table `items`. */
  readonly rows: number;
  /** Further variables of the review worker. */
  readonly review?: Readonly<Record<string, string>>;
  /** Arguments of node for each process. */
  readonly nodeArguments?: (stateDir: string) => readonly string[];
  /** Default: embedded servers on free ports. */
  readonly runtime?: DevOptions['runtime'];
}

export interface MeasuredShop {
  readonly dev: Dev;
  readonly client: DevClient;
  readonly stateDir: string;
}

/**
 * Runs `work` with the servers, our processes and a client of a small shop, and with a model that allows everything if the policy has a
 * judge. Stops them and removes their data afterwards, also if one of them does not start.
 */
export async function withShop<T>(options: ShopOptions, work: (shop: MeasuredShop) => Promise<T>): Promise<T> {
  const { say, policy = {}, rows, review = {}, nodeArguments } = options;
  const stateDir = mkdtempSync(join(tmpdir(), 'countersign-shop-'));
  const stops = [async () => rmSync(stateDir, { recursive: true, force: true })];
  try {
    const judge = policy.judge === false ? null : await startScriptedJudge({ script: () => ({}) });
    if (judge !== null) stops.unshift(judge.stop);
    const dev = await startDev({
      stateDir,
      say,
      bundleText: shopPolicy(policy),
      targets: [{ name: 'shop', seed: seedItems(rows) }],
      ...(judge === null ? {} : { judge: { baseUrl: judge.baseUrl, apiKey: 'scripted' } }),
      variables: {
        review: { COUNTERSIGN_BREAKERS: 'off', ...review },
        judge: { COUNTERSIGN_JUDGE_REQUESTS_PER_SECOND: '1000' },
      },
      nodeArguments: nodeArguments?.(stateDir) ?? [],
      runtime: options.runtime ?? { temporalPort: 0, uiPort: 0, postgresPort: 0 },
    });
    stops.unshift(() => dev.stop());
    const client = await clientOf(dev);
    stops.unshift(() => client.close());
    return await work({ dev, client, stateDir });
  } finally {
    for (const stop of stops) await stop();
  }
}

/** The ids of our processes, by name. */
export function processIds({ processes }: Dev): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(processes).map(([name, { pid }]) => [name, pid]));
}

export function clientOf({ setup, runtime }: Dev, tenant = 'default'): Promise<DevClient> {
  const { temporalAddress, namespace } = runtime;
  return openDevClient({ setup, temporalAddress, namespace, applicationName: CLIENT, tenant });
}
