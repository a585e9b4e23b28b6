import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { deployedProcesses } from '../../cli/init/manifests/processes';
import { systemdUnits } from '../../cli/init/manifests/systemd';
import { writeManifests } from '../../cli/init/manifests/write-manifests';
import { formatEnvFile, readEnvFile } from '../../workers/env-file';
import { FILES, HEALTH, initDirectory, NAMES, removeInitDirectories } from '../support/init-directory';
import { ROOT } from '../support/root';

afterAll(removeInitDirectories);

interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly user: string;
  readonly secrets: readonly { readonly source: string; readonly target: string }[];
  readonly volumes?: readonly { source: string; target: string; read_only: boolean; type: string }[];
  readonly healthcheck: { readonly test: readonly string[] };
}

/** As Compose reads a value: `$$` is a dollar sign. */
const unescaped = (value: string): string => value.replaceAll('$$', '$');

test.each(['etc', 'with space: and $HOME'])(
  'the Compose file of a directory %j gives each process only its own files',
  (name) => {
    const dir = initDirectory(name);
    const { files, start } = writeManifests('compose', dir, '9.9.9');
    expect(files).toEqual([{ path: join(dir, 'compose.yaml'), changed: true }]);
    expect(start).toContain('docker compose -f');
    const text = readFileSync(join(dir, 'compose.yaml'), 'utf8');
    // No secret is in the file itself.
    expect(text).not.toContain('postgres://');
    const { services, secrets } = parse(text) as {
      services: Record<string, Service>;
      secrets: Record<string, { file: string }>;
    };
    expect(Object.keys(services)).toEqual(NAMES);
    for (const [process, service] of Object.entries(services)) {
      const [node, envFile = '', script = ''] = service.command;
      expect([node, unescaped(envFile)]).toEqual(['node', `--env-file=${join(dir, `${process}.env`)}`]);
      expect(existsSync(join(ROOT, script.replace('dist/', '').replace('.js', '.ts')))).toBe(true);
      expect(service).toMatchObject({ image: 'countersign:9.9.9', user: `${userInfo().uid}:${userInfo().gid}` });
      const own = service.secrets.map(({ source, target }) => {
        expect(secrets[source]?.file).toBe(target);
        return unescaped(target);
      });
      const binds = service.volumes ?? [];
      expect(binds.every(({ source, target, type }) => source === target && type === 'bind')).toBe(true);
      const readable = binds.filter((bind) => bind.read_only).map(({ source }) => unescaped(source));
      expect([...own, ...readable].sort()).toEqual(
        [`${process}.env`, ...(FILES[process] ?? [])].map((file) => join(dir, file)).sort(),
      );
      expect(readable).toEqual(process === 'review' ? [join(dir, 'extension.js')] : []);
      const writable = binds.filter((bind) => !bind.read_only).map(({ source }) => source);
      expect(writable).toEqual(process === 'commit' ? ['/srv/site.git'] : []);
      expect(service.healthcheck.test.at(-1)).toContain(`http://127.0.0.1:${HEALTH[process]}/readyz`);
    }
    expect(writeManifests('compose', dir, '9.9.9').files[0]?.changed).toBe(false);
  },
);

/** What a unit assigns to a key, such as `ExecStart`. */
function assigned(unit: string, key: string): string[] {
  return unit.split('\n').flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []));
}

/** Whether the process of a unit can reach a path, by systemd.exec(5): of the entries that contain the path, the longest counts. */
function reaches(unit: string, path: string): boolean {
  const entries = ['TemporaryFileSystem', 'InaccessiblePaths', 'BindReadOnlyPaths', 'BindPaths'].flatMap((key) =>
    assigned(unit, key).map((value) => ({
      at: value.replace(/^-/, '').replace(/:ro$/, ''),
      visible: key.startsWith('Bind'),
    })),
  );
  const containing = entries.filter(({ at }) => path === at || path.startsWith(`${at}/`));
  return containing.sort((a, b) => b.at.length - a.at.length)[0]?.visible ?? true;
}

test('each systemd unit starts one process, which reaches only its own files of the directory', () => {
  const dir = initDirectory();
  // Files of init that no process reads.
  const unread = ['keys/agent-bot.key.json', 'keys/operator.key.json'];
  for (const file of unread) writeFileSync(join(dir, file), '{}');
  const { files } = writeManifests('systemd', dir, '9.9.9');
  expect(files.map(({ path }) => basename(path))).toEqual(NAMES.map((name) => `countersign-${name}.service`));
  const all = [...NAMES.map((name) => `${name}.env`), 'cli.env', ...unread, ...new Set(Object.values(FILES).flat())];
  for (const [i, { path }] of files.entries()) {
    const process = NAMES[i] ?? '';
    const unit = readFileSync(path, 'utf8');
    expect(unit.split('\n').filter((line) => line !== '' && !/^(#|\[\w+\]$|[A-Z][A-Za-z]+=)/.test(line))).toEqual([]);
    // systemd reads the settings before it hides the directory.
    expect(assigned(unit, 'EnvironmentFile')).toEqual([join(dir, `${process}.env`)]);
    expect(assigned(unit, 'ExecStart')[0]).toMatch(/^\/\S+ --enable-source-maps \/\S+\/dist\/workers\/\w+\.js$/);
    expect(all.filter((file) => reaches(unit, join(dir, file))).sort()).toEqual([...(FILES[process] ?? [])].sort());
    // Not through /proc/PID of another process of this user either.
    expect(assigned(unit, 'PrivateUsers')).toEqual(['yes']);
    expect(assigned(unit, 'ReadWritePaths')).toEqual(process === 'commit' ? ['/srv/site.git'] : []);
  }
});

test('a systemd unit hides what other processes read outside of the directory, and shows a repository inside of it', () => {
  const dir = initDirectory();
  const judge = join(dir, 'judge.env');
  writeFileSync(judge, formatEnvFile({ ...readEnvFile(judge), COUNTERSIGN_JUDGE_PRICES_FILE: '/etc/prices.json' }));
  const git = { repository: join(dir, 'site.git'), ref: 'refs/heads/main' };
  writeFileSync(join(dir, 'targets.json'), JSON.stringify({ targets: [{ name: 'site', development: false, git }] }));
  const units = writeManifests('systemd', dir, '9.9.9').files.map(({ path }) => readFileSync(path, 'utf8'));
  const reaching = (path: string): string[] => NAMES.filter((_, i) => reaches(units[i] ?? '', path));
  expect(reaching('/etc/prices.json')).toEqual(['judge']);
  expect(reaching(join(dir, 'site.git', 'HEAD'))).toEqual(['commit']);
  expect(assigned(units[NAMES.indexOf('commit')] ?? '', 'BindPaths')).toEqual([git.repository]);
});

/** A directory whose review worker and committer check the certificates of their servers with files that are named in URLs and by Node. */
function directoryWithCertificates(name?: string): { readonly dir: string; readonly at: (file: string) => string } {
  const dir = initDirectory(name);
  const at = (file: string): string => join(dir, file);
  const set = (process: string, more: object): void =>
    writeFileSync(at(`${process}.env`), formatEnvFile({ ...readEnvFile(at(`${process}.env`)), ...more }));
  const url = (files: Readonly<Record<string, string>>): string =>
    `postgres://a:b@db/x?${new URLSearchParams({ sslmode: 'verify-full', ...files }).toString()}`;
  const client = { sslcert: at('client.pem'), sslkey: at('client.key') };
  set('review', { COUNTERSIGN_DATABASE_URL: url({ sslrootcert: at('ca.pem'), ...client }) });
  set('commit', { COUNTERSIGN_DATABASE_URL: url({ sslrootcert: at('ca.pem') }) });
  set('judge', { NODE_EXTRA_CA_CERTS: '/etc/ssl/own-ca.pem', TEMPORAL_CONFIG_FILE: at('temporal.toml') });
  const stageUrl = url({ sslrootcert: at('ca.pem') });
  const commitUrl = url({ sslrootcert: at('target-ca.pem') });
  const targets = [{ name: 'shop', development: false, stageUrl, commitUrl }];
  writeFileSync(at('targets.json'), JSON.stringify({ targets }));
  return { dir, at };
}

test('a systemd unit shows the certificates that URLs of databases, Node and Temporal name, and hides no CA', () => {
  const { dir, at } = directoryWithCertificates();
  const units = writeManifests('systemd', dir, '9.9.9').files.map(({ path }) => readFileSync(path, 'utf8'));
  const reaching = (path: string): string[] => NAMES.filter((_, i) => reaches(units[i] ?? '', path));
  expect(reaching(at('ca.pem'))).toEqual(['review', 'commit']);
  expect(reaching(at('target-ca.pem'))).toEqual(['commit']);
  expect(reaching(at('client.key'))).toEqual(['review']);
  expect(reaching(at('temporal.toml'))).toEqual(['judge']);
  // It can be one that Temporal's client reads for all processes.
  expect(reaching('/etc/ssl/own-ca.pem')).toEqual(NAMES);
});

test('the Compose file mounts these certificates where the settings name them, each once', () => {
  const { dir, at } = directoryWithCertificates('with space');
  writeManifests('compose', dir, '9.9.9');
  const { services } = parse(readFileSync(at('compose.yaml'), 'utf8')) as { services: Record<string, Service> };
  const mounts = (name: string): string[] =>
    [...(services[name]?.secrets ?? []), ...(services[name]?.volumes ?? [])].map(({ target }) => target).sort();
  const files = (name: string): string[] => [`${name}.env`, ...(FILES[name] ?? [])].map(at);
  expect(mounts('review')).toEqual([...files('review'), at('ca.pem'), at('client.pem'), at('client.key')].sort());
  expect(mounts('commit')).toEqual([...files('commit'), at('ca.pem'), at('target-ca.pem')].sort());
  expect(mounts('judge')).toEqual([...files('judge'), at('temporal.toml'), '/etc/ssl/own-ca.pem'].sort());
  // Node does not read it from a file of settings.
  expect(services['judge']).toMatchObject({ environment: { NODE_EXTRA_CA_CERTS: '/etc/ssl/own-ca.pem' } });
});

test('manifests are refused for a relative path in the URL of a database', () => {
  const dir = initDirectory();
  const url = 'postgres://a:b@db/x?sslrootcert=ca.pem';
  const file = join(dir, 'review.env');
  writeFileSync(file, formatEnvFile({ ...readEnvFile(file), COUNTERSIGN_DATABASE_URL: url }));
  for (const kind of ['compose', 'systemd', 'kubernetes'] as const)
    expect(() => writeManifests(kind, dir, '9.9.9')).toThrow('sslrootcert=ca.pem; expected an absolute path');
});

test('a Kustomize base is refused for a file in the URL of a database, and has the CA of NODE_EXTRA_CA_CERTS instead', () => {
  const { dir } = directoryWithCertificates();
  expect(() => writeManifests('kubernetes', dir, '9.9.9')).toThrow(
    /ca\.pem, which has another path.*NODE_EXTRA_CA_CERTS/,
  );
  const other = initDirectory();
  rmSync(join(other, 'targets.json'));
  const file = join(other, 'review.env');
  writeFileSync(file, formatEnvFile({ ...readEnvFile(file), NODE_EXTRA_CA_CERTS: join(other, 'ca.pem') }));
  writeManifests('kubernetes', other, '9.9.9');
  const { items } = JSON.parse(readFileSync(join(other, 'kubernetes/countersign.json'), 'utf8')) as {
    items: Manifest[];
  };
  const [review] = items.filter(({ kind }) => kind === 'Deployment');
  const [variable] = review?.spec?.template.spec.containers[0]?.env ?? [];
  const base = parse(readFileSync(join(other, 'kustomization.yaml'), 'utf8')) as Kustomization;
  expect(variable?.name).toBe('NODE_EXTRA_CA_CERTS');
  expect(base.secretGenerator[0]?.files).toContain(`${basename(variable?.value ?? '')}=ca.pem`);
});

test('systemd units are refused for a path that a unit would read differently', () => {
  expect(() => writeManifests('systemd', initDirectory('with space'), '9.9.9')).toThrow(
    'systemd needs an absolute path',
  );
});

test('systemd units are refused for a directory that contains the program which they start', () => {
  const dir = initDirectory();
  const facts = { processes: deployedProcesses(dir), dir, node: process.execPath, user: 'countersign' };
  const start = () => systemdUnits({ ...facts, packageDir: join(dir, 'node_modules', 'countersign') });
  expect(start).toThrow(/node_modules\/countersign: the units hide .*; use a directory that does not contain it/);
});

interface Container {
  readonly command: readonly string[];
  readonly ports?: readonly object[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly volumeMounts: readonly { readonly name: string }[];
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
  readonly secretGenerator: readonly { readonly name: string; readonly files?: string[] }[];
}

test('each Deployment of the Kustomize base has the settings and files of its process, and every name exists', () => {
  const dir = initDirectory();
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
    const settingsFile = '--env-file=/run/countersign/settings.env';
    expect(container?.command).toEqual(['node', settingsFile, `dist/workers/${process}.js`]);
    const volumes = pod?.volumes.map(({ name }) => name);
    for (const { volumeMounts } of [...(pod?.containers ?? []), ...(pod?.initContainers ?? [])])
      for (const { name } of volumeMounts) expect(volumes).toContain(name);
    const { files: [settings = '', ...files] = [] } =
      secrets.get(pod?.volumes.find(({ secret }) => secret)?.secret?.secretName ?? '') ?? {};
    const named = files.map((entry) => entry.split('=') as [string, string]);
    expect(named.map(([, path]) => path).sort()).toEqual([...(FILES[process] ?? [])].sort());
    for (const [, path] of named) expect(existsSync(join(dir, path))).toBe(true);
    const values = readEnvFile(join(dir, settings.replace('settings.env=', '')));
    // No path of this machine, and each path is a file that the init container copies.
    expect(JSON.stringify(values)).not.toContain(dir);
    const paths = Object.entries(values).filter(([name]) => /_(FILE|PATH|EXTENSIONS)$/.test(name));
    expect(paths.map(([, path]) => path).sort()).toEqual(named.map(([key]) => `/run/countersign/${key}`).sort());
    expect(container?.ports).toEqual([{ name: 'http', containerPort: HEALTH[process] }]);
    const listens = process === 'gateway' ? 'COUNTERSIGN_GATEWAY_HOST' : 'COUNTERSIGN_HEALTH_ADDRESS';
    expect(values[listens]).toMatch(/^0\.0\.0\.0/);
    expect(container).toMatchObject({
      readinessProbe: { httpGet: { path: '/readyz', port: 'http' } },
      livenessProbe: { httpGet: { path: '/healthz', port: 'http' } },
    });
    expect(metadata.name).toBe(`countersign-${process}`);
  }
  expect(items.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name)).toEqual([
    'countersign-gateway',
  ]);
});

test.each([
  ['[::1]:9081', 'http://[::1]:9081/readyz'],
  ['[::]:9081', 'http://[::1]:9081/readyz'],
  ['0.0.0.0:9081', 'http://127.0.0.1:9081/readyz'],
])('a process that serves its health on %s is asked at %s', (address, url) => {
  const dir = initDirectory();
  const file = join(dir, 'review.env');
  writeFileSync(file, formatEnvFile({ ...readEnvFile(file), COUNTERSIGN_HEALTH_ADDRESS: address }));
  writeManifests('compose', dir, '9.9.9');
  const { services } = parse(readFileSync(join(dir, 'compose.yaml'), 'utf8')) as { services: Record<string, Service> };
  expect(services['review']?.healthcheck.test.at(-1)).toContain(`fetch('${url}')`);
});

test('a Kustomize base is refused for a repository as a target, and for a file outside of the directory', () => {
  const dir = initDirectory();
  expect(() => writeManifests('kubernetes', dir, '9.9.9')).toThrow('/srv/site.git is a repository');
  rmSync(join(dir, 'targets.json'));
  writeFileSync(
    join(dir, 'judge.env'),
    formatEnvFile({
      COUNTERSIGN_PAYLOAD_KEYS_FILE: '/elsewhere/keys.json',
      COUNTERSIGN_HEALTH_ADDRESS: '127.0.0.1:9082',
    }),
  );
  expect(() => writeManifests('kubernetes', dir, '9.9.9')).toThrow('/elsewhere/keys.json is outside of');
});

describe('the secrets that the file of notices names', () => {
  /** A directory whose review worker has notices. */
  function noticesIn(urlFile: string): { readonly dir: string; readonly at: (file: string) => string } {
    const dir = initDirectory();
    const at = (file: string): string => join(dir, file);
    rmSync(at('targets.json'));
    const notices = {
      inbox: 'https://countersign.example/inbox/',
      channels: {
        chat: { type: 'slack', urlFile },
        mail: { type: 'email', host: 'smtp.example', from: 'a@b.example' },
      },
      groups: {},
    };
    writeFileSync(at('notices.json'), JSON.stringify(notices));
    const variables = { ...readEnvFile(at('review.env')), COUNTERSIGN_NOTICES_FILE: at('notices.json') };
    writeFileSync(at('review.env'), formatEnvFile(variables));
    return { dir, at };
  }

  test('are in the container of its process, where the file names them', () => {
    const { dir, at } = noticesIn('slack-url');
    writeManifests('compose', dir, '9.9.9');
    const compose = parse(readFileSync(at('compose.yaml'), 'utf8')) as { services: Record<string, Service> };
    const targets = compose.services['review']?.secrets.map(({ target }) => target);
    expect(targets).toEqual(expect.arrayContaining([at('notices.json'), at('slack-url')]));
    writeManifests('kubernetes', dir, '9.9.9');
    const base = parse(readFileSync(at('kustomization.yaml'), 'utf8')) as Kustomization;
    expect(base.secretGenerator[0]?.files).toContain('slack-url=slack-url');
  });

  test('are refused for a Kustomize base if they are not beside it', () => {
    const { dir } = noticesIn('secrets/slack-url');
    expect(() => writeManifests('kubernetes', dir, '9.9.9')).toThrow(
      'names secrets/slack-url; expected a file beside it',
    );
  });
});
