import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { writeManifests } from '../../cli/init/manifests/write-manifests';
import { formatEnvFile, readEnvFile } from '../../workers/env-file';
import { ROOT } from '../support/root';

const NAMES = ['review', 'judge', 'commit', 'gateway'];
/** Files of the directory that each process needs, besides its own environment file. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  review: ['keys/review.key.json', 'trust.json', 'extension.js'],
  judge: ['keys/judge.key.json', 'trust.json', 'client.pem'],
  commit: ['keys/commit.key.json', 'trust.json', 'targets.json'],
  gateway: ['trust.json'],
};

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** A directory as `init` makes it, with a git target and an extension of the review worker. */
function directory(name = 'etc'): string {
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-manifests-'));
  folders.push(scratch);
  const dir = join(scratch, name);
  mkdirSync(join(dir, 'keys'), { recursive: true });
  const at = (file: string): string => join(dir, file);
  for (const process of NAMES) {
    const files = FILES[process] ?? [];
    const variables: Record<string, string> = {
      COUNTERSIGN_DATABASE_URL: `postgres://cs_${process}:secret@db/countersign`,
      COUNTERSIGN_TRUST_FILE: at('trust.json'),
      ...(process === 'gateway' ? { COUNTERSIGN_GATEWAY_PORT: '9077' } : { COUNTERSIGN_KEY_FILE: at(files[0] ?? '') }),
      ...(process === 'commit' ? { COUNTERSIGN_TARGETS_FILE: at('targets.json') } : {}),
      ...(process === 'review' ? { COUNTERSIGN_EXTENSIONS: at('extension.js') } : {}),
      ...(process === 'judge' ? { TEMPORAL_TLS_CLIENT_CERT_PATH: at('client.pem') } : {}),
    };
    writeFileSync(at(`${process}.env`), formatEnvFile(variables));
    for (const file of files) writeFileSync(at(file), '{}');
  }
  const git = { repository: '/srv/site.git', ref: 'refs/heads/main' };
  writeFileSync(at('targets.json'), JSON.stringify({ targets: [{ name: 'site', development: false, git }] }));
  return dir;
}

interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly user: string;
  readonly env_file: readonly string[];
  readonly volumes: readonly { source: string; target: string; read_only: boolean; type: string }[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly deploy: { readonly resources: { readonly limits: { readonly memory: string } } };
}

/** As Compose reads a value: `$$` is a dollar sign. */
const unescaped = (value: string): string => value.replaceAll('$$', '$');

test.each(['etc', 'with space: and $HOME'])(
  'the Compose file of a directory %j gives each process only its own files',
  (name) => {
    const dir = directory(name);
    const { files, start } = writeManifests('compose', dir, '9.9.9');
    expect(files).toEqual([{ path: join(dir, 'compose.yaml'), changed: true }]);
    expect(start).toContain('docker compose -f');
    const { services } = parse(readFileSync(join(dir, 'compose.yaml'), 'utf8')) as {
      services: Record<string, Service>;
    };
    expect(Object.keys(services)).toEqual(NAMES);
    for (const [process, service] of Object.entries(services)) {
      const script = service.command[1] ?? '';
      expect(existsSync(join(ROOT, script.replace('dist/', '').replace('.js', '.ts')))).toBe(true);
      expect(service).toMatchObject({ image: 'countersign:9.9.9', user: `${userInfo().uid}:${userInfo().gid}` });
      expect(service.env_file.map(unescaped)).toEqual([join(dir, `${process}.env`)]);
      const readable = service.volumes.filter((volume) => volume.read_only).map(({ source }) => unescaped(source));
      expect(readable.sort()).toEqual((FILES[process] ?? []).map((file) => join(dir, file)).sort());
      expect(service.volumes.every(({ source, target, type }) => source === target && type === 'bind')).toBe(true);
      const writable = service.volumes.filter((volume) => !volume.read_only).map(({ source }) => source);
      expect(writable).toEqual(process === 'commit' ? ['/srv/site.git'] : []);
      expect(service.deploy.resources.limits.memory).toBe('2G');
    }
    expect(services['gateway']?.healthcheck?.test.at(-1)).toContain('http://127.0.0.1:9077/readyz');
    expect(writeManifests('compose', dir, '9.9.9').files[0]?.changed).toBe(false);
  },
);

test('each systemd unit starts one process and hides the files of the others', () => {
  const dir = directory();
  const { files } = writeManifests('systemd', dir, '9.9.9');
  expect(files.map(({ path }) => basename(path))).toEqual(NAMES.map((name) => `countersign-${name}.service`));
  const all = new Set([...NAMES.map((name) => `${name}.env`), 'cli.env', ...Object.values(FILES).flat()]);
  for (const [i, { path }] of files.entries()) {
    const process = NAMES[i] ?? '';
    const lines = readFileSync(path, 'utf8').split('\n');
    const values = (key: string): string[] =>
      lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1));
    expect(lines.filter((line) => line !== '' && !/^(#|\[\w+\]$|[A-Z][A-Za-z]+=)/.test(line))).toEqual([]);
    expect(values('EnvironmentFile')).toEqual([join(dir, `${process}.env`)]);
    expect(values('ExecStart')[0]).toMatch(/^\/\S+ --enable-source-maps \/\S+\/dist\/workers\/\w+\.js$/);
    const own = [`${process}.env`, ...(FILES[process] ?? [])];
    const hidden = [...all].filter((file) => !own.includes(file)).map((file) => `-${join(dir, file)}`);
    expect(values('InaccessiblePaths').sort()).toEqual(hidden.sort());
    expect(values('ReadWritePaths')).toEqual(process === 'commit' ? ['/srv/site.git'] : []);
  }
});

test('systemd units are refused for a path that a unit would read differently', () => {
  expect(() => writeManifests('systemd', directory('with space'), '9.9.9')).toThrow('systemd needs a path of');
});

interface Container {
  readonly command: readonly string[];
  readonly envFrom?: readonly { readonly secretRef: { readonly name: string } }[];
  readonly volumeMounts: readonly { readonly name: string }[];
  readonly readinessProbe?: unknown;
}
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly template: {
      readonly spec: {
        readonly enableServiceLinks: boolean;
        readonly initContainers: readonly Container[];
        readonly containers: readonly Container[];
        readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
      };
    };
  };
}
interface Kustomization {
  readonly resources: readonly string[];
  readonly secretGenerator: readonly { readonly name: string; readonly envs?: string[]; readonly files?: string[] }[];
}

test('each Deployment of the Kustomize base has the settings and files of its process, and every name exists', () => {
  const dir = directory();
  writeFileSync(
    join(dir, 'targets.json'),
    JSON.stringify({ targets: [{ name: 'shop', development: false, stageUrl: null, commitUrl: null }] }),
  );
  writeManifests('kubernetes', dir, '9.9.9');
  const base = parse(readFileSync(join(dir, 'kustomization.yaml'), 'utf8')) as Kustomization;
  const { items } = JSON.parse(readFileSync(join(dir, base.resources[0] ?? ''), 'utf8')) as { items: Manifest[] };
  const secrets = new Map(base.secretGenerator.map((secret) => [secret.name, secret]));
  const deployments = items.filter(({ kind }) => kind === 'Deployment');
  expect(deployments.map(({ metadata }) => metadata.name)).toEqual(NAMES.map((name) => `countersign-${name}`));
  for (const [i, { spec, metadata }] of deployments.entries()) {
    const process = NAMES[i] ?? '';
    const pod = spec?.template.spec;
    const [container] = pod?.containers ?? [];
    expect(pod?.enableServiceLinks).toBe(false);
    expect(container?.command).toEqual(['node', `dist/workers/${process}.js`]);
    const volumes = pod?.volumes.map(({ name }) => name);
    for (const { volumeMounts } of [...(pod?.containers ?? []), ...(pod?.initContainers ?? [])])
      for (const { name } of volumeMounts) expect(volumes).toContain(name);
    const { files = [] } = secrets.get(pod?.volumes.find(({ secret }) => secret)?.secret?.secretName ?? '') ?? {};
    const named = files.map((entry) => entry.split('=') as [string, string]);
    expect(named.map(([, path]) => path).sort()).toEqual([...(FILES[process] ?? [])].sort());
    for (const [, path] of named) expect(existsSync(join(dir, path))).toBe(true);
    const env = secrets.get(container?.envFrom?.[0]?.secretRef.name ?? '')?.envs?.[0] ?? '';
    const values = readEnvFile(join(dir, env));
    // No path of this machine, and each path is a file that the init container copies.
    expect(JSON.stringify(values)).not.toContain(dir);
    const paths = Object.entries(values).filter(([name]) => /_(FILE|PATH|EXTENSIONS)$/.test(name));
    expect(paths.map(([, path]) => path).sort()).toEqual(named.map(([key]) => `/run/countersign/${key}`).sort());
    expect(metadata.name === 'countersign-gateway').toBe(container?.readinessProbe !== undefined);
  }
  expect(items.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name)).toEqual([
    'countersign-gateway',
  ]);
});

test('a Kustomize base is refused for a repository as a target, and for a file outside of the directory', () => {
  const dir = directory();
  expect(() => writeManifests('kubernetes', dir, '9.9.9')).toThrow('/srv/site.git is a repository');
  rmSync(join(dir, 'targets.json'));
  writeFileSync(join(dir, 'judge.env'), formatEnvFile({ COUNTERSIGN_PAYLOAD_KEYS_FILE: '/elsewhere/keys.json' }));
  expect(() => writeManifests('kubernetes', dir, '9.9.9')).toThrow('/elsewhere/keys.json is outside of');
});
