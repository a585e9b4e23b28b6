import { serve } from '@hono/node-server';
import type { GatewayDeps } from '../../../gateway/app';
import { remoteModules } from '../../../cli/remote-modules';
import { writeKeyFile } from '../../../signing/key-file';
import { evidenceChecksum, type EvidenceBundle } from '../../../policy/evidence/bundle';
import { newKeyPair, type SigningKey } from '../../../signing/keys';
import { failing } from '../../client/fakes';
import { fakeGateway } from '../../gateway/fake-gateway';
import type { TestKey } from '../../support/keys';
import { evidenceWorld, type World } from '../../support/review/evidence-world';
import { runCommand, type temporaryFolder, type CommandRun } from '../run-command';

export interface GatewayWorld {
  readonly world: World;
  readonly url: string;
  /** A change that waits for a person, and one that was committed. */
  readonly open: string;
  readonly ended: string;
  readonly path: (name: string) => string;
  /** Path of a key file: `alice` may answer, `agent` may submit, `stranger` is not registered. */
  readonly key: (name: 'alice' | 'agent' | 'stranger') => string;
  /** The command line with which alice logs in. */
  readonly login: (url?: string) => readonly string[];
  /** Instead of a login. */
  readonly variables: () => Readonly<Record<string, string>>;
  /** Runs a command line with nothing but these variables of the shell, without a database or Temporal. */
  readonly run: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<CommandRun>;
  readonly stop: () => Promise<void>;
}

/** The CLI against a gateway on loopback, whose reviews are in memory. */
export async function gatewayWorld({ path, write }: ReturnType<typeof temporaryFolder>): Promise<GatewayWorld> {
  const world = evidenceWorld();
  const { changeId: ended } = await world.review({ table: 'public.items' });
  const { changeId: open } = await world.review({ table: 'public.prices', open: true });
  const registry = world.keys.registry();
  const app = fakeGateway({
    reviews: failing<GatewayDeps['reviews']>({
      tenantOf: async (id) => (await world.export(id)).submission?.tenant ?? '',
      bundle: async (id, { inclusion = false } = {}) => {
        const bundle = await world.export(id);
        return inclusion ? bundle : withoutInclusion(bundle);
      },
      result: async (id) =>
        id === ended ? ({ state: 'COMMITTED' } as never) : { state: 'PENDING' as const, status: null },
      list: async ({ limit = 50, ...filter } = {}) => await world.ledger.listReviews({ ...present(filter), limit }),
    }),
    store: { put: () => Promise.reject(new Error('nothing is stored')), has: async () => false },
    keys: async () => await registry.snapshot(),
    registration: async (keyId) => {
      const [found] = await world.keys.envelopesOf([keyId]);
      return found?.registration ?? null;
    },
  });
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  keyFile(path('alice'), approver(world, 'alice'), 'approver');
  keyFile(path('agent'), world.keys.agent, 'service');
  keyFile(path('stranger'), newKeyPair(), 'approver');
  write('trust.json', JSON.stringify(world.trust));
  const url = `http://127.0.0.1:${port}`;
  return {
    world,
    url,
    login: (at = url) => ['login', at, '--key', path('alice'), '--trust', path('trust.json'), '--tenant', 'acme'],
    variables: () => ({
      COUNTERSIGN_GATEWAY_URL: url,
      COUNTERSIGN_TENANT: 'acme',
      COUNTERSIGN_KEY_FILE: path('alice'),
      COUNTERSIGN_TRUST_FILE: path('trust.json'),
    }),
    open,
    ended,
    path,
    key: path,
    run: (args, env = { XDG_CONFIG_HOME: path('config') }) =>
      runCommand(args, {
        host: { env: { COUNTERSIGN_STATE_DIR: path('none'), ...env }, shellEnv: env, remote: remoteModules },
      }),
    stop: () =>
      new Promise(
        (resolve) => (server.close(() => resolve()), 'closeAllConnections' in server && server.closeAllConnections()),
      ),
  };
}

function approver({ keys }: World, person: string): TestKey {
  const key = keys.approvers.find(({ entry }) => entry.subject.id === person);
  if (key === undefined) throw new Error(`No approver ${person}`);
  return key;
}

function keyFile(path: string, key: SigningKey, kind: 'approver' | 'service'): void {
  const person = { type: 'person' as const, id: 'alice' };
  const agent = { type: 'agent' as const, id: 'shop-agent' };
  const label = kind === 'approver' ? { subject: person, onBehalfOf: null } : { subject: agent, onBehalfOf: 'dana' };
  writeKeyFile({ path, key, label: { kind, demo: false, ...label }, createdAt: '2026-01-01T00:00:00.000Z' });
}

/** As a gateway serves a review that is only shown. */
function withoutInclusion(bundle: EvidenceBundle): EvidenceBundle {
  const rest = { ...bundle, inclusion: null };
  return { ...rest, sha256: evidenceChecksum(rest) };
}

function present<T extends object>(filter: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as never;
}
