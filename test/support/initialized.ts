import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initialize } from '../../cli/init/initialize';
import type { InitRequest } from '../../cli/init/request';
import { query } from '../../dev/query';
import { writeKeyFile } from '../../signing/key-file';
import { newKeyPair } from '../../signing/keys';
import { starterBundle } from '../../source-tools/starter-bundle';
import { CLI_ENV_FILE, readEnvFile } from '../../workers/env-file';
import { freeGatewayPort } from './free-gateway-port';
import type { OwnServers } from './own-servers';

/** A directory of `countersign init` with the target `shop` (table `items`), the approver alice and the agent shopbot. */
export interface Initialized {
  readonly dir: string;
  readonly request: InitRequest;
  readonly aliceKey: string;
  readonly gatewayUrl: string;
  /** The environment of a command line on this host. */
  readonly cliEnv: Readonly<Record<string, string>>;
  remove(): void;
}

type Servers = Pick<OwnServers, 'temporalAddress' | 'namespace' | 'adminUrl' | 'createDatabase'>;

/** What such a directory is made from. Creates the target, and writes the files that the request names to `scratch`. */
export async function initRequest(servers: Servers, scratch: string, publicKey: string): Promise<InitRequest> {
  const [person, policy] = [join(scratch, 'alice.pub'), join(scratch, 'policy.yaml')];
  writeFileSync(person, `${publicKey}\n`);
  writeFileSync(policy, starterBundle('SQLDryRun', { targets: ['shop'], members: ['alice'], development: false }));
  await servers.createDatabase('shop');
  await query(servers.adminUrl('shop'), 'create table items (id int primary key, stock int not null)');
  return {
    dir: join(scratch, 'etc'),
    databaseUrl: servers.adminUrl('countersign'),
    temporalAddress: servers.temporalAddress,
    namespace: servers.namespace,
    tenant: 'default',
    targets: [{ name: 'shop', adminUrl: servers.adminUrl('shop') }],
    schemas: ['public'],
    persons: [{ name: 'alice', publicKeyFile: person }],
    agents: [{ name: 'shopbot', person: 'dana' }],
    judge: { url: null, keyFile: null },
    operatorKey: join(scratch, 'operator.key.json'),
    policy,
    gatewayPort: 8077,
    publicUrl: null,
    rotate: false,
  };
}

export async function initialized(servers: Servers): Promise<Initialized> {
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-initialized-'));
  const aliceKey = join(scratch, 'alice.key.json');
  const alice = newKeyPair();
  const label = { kind: 'approver', subject: { type: 'person', id: 'alice' }, onBehalfOf: null, demo: false } as const;
  writeKeyFile({ path: aliceKey, key: alice, label, createdAt: new Date().toISOString() });
  const gatewayPort = await freeGatewayPort();
  const request = { ...(await initRequest(servers, scratch, alice.publicKey)), gatewayPort };
  const { dir } = request;
  await query(servers.adminUrl('shop'), 'insert into items values (1, 10), (2, 20)');
  await initialize({}, request, () => {});
  return {
    dir,
    request,
    aliceKey,
    gatewayUrl: `http://127.0.0.1:${gatewayPort}`,
    cliEnv: { ...readEnvFile(join(dir, CLI_ENV_FILE)), COUNTERSIGN_STATE_DIR: dir },
    remove: () => rmSync(scratch, { recursive: true, force: true }),
  };
}
