import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { Pool } from 'pg';
import type { Countersign } from '../../client/countersign';
import { GatewayClient } from '../../client/gateway-client';
import { createSigner } from '../../client/signer';
import { openDevClient } from '../../dev/client';
import type { Say } from '../../dev/embedded';
import type { ProcessName } from '../../workers/start-process';
import { startDev, type Dev } from '../../dev/start';
import { startScriptedJudge } from '../../examples/demo/scripted-judge';
import { seedItems } from '../../bench/measure';
import { NAMESPACE, Servers } from '../sweep/servers';
import { startLoad, type LoadResult, type Route } from './review-load';
import { shopPolicy } from '../../bench/shop-policy';

const ROWS = 20_000;

export interface UpgradeOptions {
  readonly stateDir: string;
  readonly perSecond: number;
  /** Reviews under load before, between and after the restarts. */
  readonly betweenMs: number;
  readonly say: Say;
}

export interface UpgradeResult extends LoadResult {
  /** In order. */
  readonly restarted: readonly string[];
  /** Rows whose committed change has not exactly one effect, or that have an effect without a commit. */
  readonly wrongEffects: number;
}

/**
 * Replaces each worker and the gateway one by one, then restarts PostgreSQL and Temporal, during a steady load of reviews with a judge, half
 * of them through the gateway. A worker's replacement starts before the old process gets SIGTERM, as in a rolling upgrade.
 */
export async function upgradeUnderLoad({
  stateDir,
  perSecond,
  betweenMs,
  say,
}: UpgradeOptions): Promise<UpgradeResult> {
  const servers = await Servers.start(join(stateDir, 'servers'), say);
  const judge = await startScriptedJudge({ script: () => ({}) });
  const stops = [judge.stop, () => servers.stop()];
  try {
    const dev = await startDev({
      stateDir: join(stateDir, 'dev'),
      say,
      bundleText: shopPolicy(),
      judge: { baseUrl: judge.baseUrl, apiKey: 'scripted' },
      judgeRequestsPerSecond: 1000,
      targets: [{ name: 'shop', database: 'shop', schemas: ['public'], seed: seedItems(ROWS) }],
      runtime: {
        handleSignals: false,
        env: {
          ...process.env,
          TEMPORAL_ADDRESS: servers.temporal.address,
          TEMPORAL_NAMESPACE: NAMESPACE,
          COUNTERSIGN_DATABASE_ADMIN_URL: servers.postgres.superuserUrl('postgres'),
        },
      },
    });
    stops.unshift(() => dev.stop());
    const temporalAddress = servers.temporal.address;
    const client = await openDevClient({
      setup: dev.setup,
      temporalAddress,
      namespace: NAMESPACE,
      applicationName: 'upgrades',
    });
    stops.unshift(() => client.close());
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
      await sleep(betweenMs);
      await step();
      restarted.push(name);
      say(`Restarted ${name}; ${load.submitted()} reviews submitted`);
    }
    await sleep(betweenMs);
    const result = await load.stop();
    const wrongEffects = await countWrongEffects(dev.setup.targetAdminUrls['shop'] ?? '', result.committed);
    return { ...result, restarted, wrongEffects };
  } finally {
    for (const stop of stops) await stop();
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
