import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import type { Countersign } from '../../client/countersign';
import { GatewayClient } from '../../client/gateway-client';
import { createSigner } from '../../client/signer';
import type { Say } from '../../dev/embedded/processes';
import type { ProcessName } from '../../workers/start-process';
import type { Dev } from '../../dev/start';
import { withShop } from '../../bench/with-shop';
import { NAMESPACE, Servers } from '../sweep/servers';
import { startLoad, type LoadResult, type Route } from './review-load';

const ROWS = 20_000;
/** Reviews under load before, between and after the restarts. */
const BETWEEN_MS = 10_000;

interface UpgradeOptions {
  readonly stateDir: string;
  readonly perSecond: number;
  readonly say: Say;
}

interface UpgradeResult extends LoadResult {
  /** In order. */
  readonly restarted: readonly string[];
  /** Rows whose committed change has not exactly one effect, or that have an effect without a commit. */
  readonly wrongEffects: number;
}

/**
 * Replaces each worker and the gateway one by one, then restarts PostgreSQL and Temporal, during a steady load of reviews with a judge, half
 * of them through the gateway. A worker's replacement starts before the old process gets SIGTERM, as in a rolling upgrade.
 */
export async function upgradeUnderLoad({ stateDir, perSecond, say }: UpgradeOptions): Promise<UpgradeResult> {
  const servers = await Servers.start(stateDir, say);
  const env = {
    ...process.env,
    TEMPORAL_ADDRESS: servers.temporal.address,
    TEMPORAL_NAMESPACE: NAMESPACE,
    COUNTERSIGN_DATABASE_ADMIN_URL: servers.postgres.superuserUrl('postgres'),
  };
  try {
    const options = { say, rows: ROWS, review: { COUNTERSIGN_BREAKERS: 'on' }, runtime: { handleSignals: false, env } };
    return await withShop(options, async ({ dev, client }) => {
      const load = startLoad(routes(dev, client.countersign), perSecond);
      const restarted: string[] = [];
      const steps: readonly (readonly [string, () => Promise<void>])[] = [
        ['review worker', () => replace(dev, 'review')],
        ['judge worker', () => replace(dev, 'judge')],
        ['committer', () => replace(dev, 'commit')],
        ['gateway', () => replace(dev, 'gateway')],
        ['PostgreSQL', () => servers.restartPostgres()],
        ['Temporal', () => servers.restartTemporal()],
      ];
      for (const [name, step] of steps) {
        await sleep(BETWEEN_MS);
        await step();
        restarted.push(name);
        say(`Restarted ${name}; ${load.submitted()} reviews submitted`);
      }
      await sleep(BETWEEN_MS);
      const result = await load.stop();
      const wrongEffects = await countWrongEffects(dev.setup.targetAdminUrls['shop'] ?? '', result.committed);
      return { ...result, restarted, wrongEffects };
    });
  } finally {
    await servers.stop();
  }
}

/** Over Temporal and over HTTP in turn. Two approvers, because a gateway bounds the answers of each key in five minutes. */
function routes({ gatewayUrl, setup }: Dev, countersign: Countersign): readonly Route[] {
  const { agent, alice, bob, operator, committer } = setup.keys;
  const trust = { operators: [operator.key.publicKey], committers: [committer.key.publicKey] };
  const gateway = (serviceKey: Route['signer']): GatewayClient =>
    new GatewayClient({ baseUrl: gatewayUrl, tenant: 'default', serviceKey, trust });
  const calls = gateway(createSigner(agent.key));
  return [alice, bob].flatMap(({ key }) => {
    const signer = createSigner(key);
    return [
      { calls: countersign, approver: countersign, signer },
      { calls, approver: gateway(signer), signer },
    ];
  });
}

/** Two gateways cannot have one port, so the old one stops first. */
async function replace(dev: Dev, name: ProcessName): Promise<void> {
  const old = dev.processes[name];
  if (name === 'gateway') await old.stop();
  await dev.restart(name);
  await old.stop();
}

/** Each change adds 1 to the stock of its own row. */
async function countWrongEffects(adminUrl: string, committed: readonly number[]): Promise<number> {
  const pool = new Pool({ connectionString: adminUrl, max: 1 });
  try {
    const { rows } = await pool.query<{ wrong: number }>(
      'select count(*)::int as wrong from items where stock <> (case when id = any($1::int[]) then 1 else 0 end)',
      [committed],
    );
    return rows[0]?.wrong ?? Number.NaN;
  } finally {
    await pool.end();
  }
}
