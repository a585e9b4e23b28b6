import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

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
  readonly secrets?: readonly { readonly source: string; readonly target: string }[];
  readonly user?: string;
}

const root = join(__dirname, '../..');
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
    for (const { source } of service.secrets ?? []) expect(compose.secrets).toHaveProperty([source]);
    for (const [from = ''] of (service.volumes ?? []).map((volume) => volume.split(':'))) {
      if (!from.startsWith('.')) expect(compose.volumes).toHaveProperty([from]);
    }
  }
});

it('waits in a circle nowhere', () => {
  const visit = (name: string, path: readonly string[]): void => {
    expect(path).not.toContain(name);
    for (const needed of Object.keys(compose.services[name]?.depends_on ?? {})) visit(needed, [...path, name]);
  };
  for (const [name] of services) visit(name, []);
});

it('mounts and runs only files that are here, or that deploy/README.md tells the operator to make', () => {
  const made = (path: string): boolean => /deploy\/(secrets|config)\//.test(path);
  const mounted = services.flatMap(([, service]) =>
    (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '').filter((from) => from.startsWith('.')),
  );
  const named = services.flatMap(([, service]) => (service.env_file ?? []).map(({ path }) => path));
  for (const path of [...mounted, ...named, ...Object.values(compose.secrets).map(({ file }) => file)]) {
    expect([path, made(path) || existsSync(join(root, path))]).toEqual([path, true]);
  }
});

it('publishes the gateway and the UI alone, on loopback unless told otherwise', () => {
  const published = services.filter(([, service]) => (service.ports ?? []).length > 0);
  expect(published.map(([name]) => name).sort()).toEqual(['gateway', 'temporal-ui']);
  for (const port of published.flatMap(([, service]) => service.ports ?? []))
    expect(port).toMatch(/^\$\{COUNTERSIGN_\w+_BIND:-127\.0\.0\.1\}:\d+:\d+$/);
});

it('keeps databases and Temporal on networks without a way out', () => {
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
    // A folder mounted whole would take the committer's files along.
    for (const volume of service.volumes ?? []) expect(volume).not.toMatch(/^\.\/deploy(\/secrets|\/config)?\/?:/);
  }
});

it('gives each file of passwords to one service, but Temporal and its schema job share theirs', () => {
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

it('pins every image, and builds ours on glibc as a user who is not root', () => {
  for (const [name, service] of services)
    expect([name, service.image]).toEqual([name, expect.stringMatching(/:\d+\.\d+(\.\d+)?(-[a-z]+)?$/)]);
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
  for (const base of bases) expect(base).toMatch(/^node:22\.\d+\.\d+-[a-z]+-slim$/);
  expect(dockerfile).toMatch(/^USER node$/m);
  expect(readFileSync(join(root, '.dockerignore'), 'utf8')).toContain('deploy/secrets');
});

it('copies into the image every folder that the build compiles', () => {
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8')) as { include: string[] };
  for (const folder of include) expect(dockerfile).toContain(`COPY ${folder} ${folder}\n`);
});
