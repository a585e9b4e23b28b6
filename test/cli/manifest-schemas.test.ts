import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import Ajv from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { parse, parseAllDocuments } from 'yaml';
import { writeManifests } from '../../cli/init/manifests/write-manifests';
import { initDirectory, NAMES, removeInitDirectories } from '../support/init-directory';
import { ROOT } from '../support/root';

afterAll(removeInitDirectories);

const schemas = join(ROOT, 'test', 'support', 'schemas');
const ajv = new Ajv({ strict: false });
addFormats(ajv);
const schema = (file: string): object => JSON.parse(readFileSync(join(schemas, file), 'utf8')) as object;
const composeSpec = ajv.compile(schema('compose-spec.json'));
ajv.addSchema(schema('kubernetes-1.32.json'));

function composeErrors(text: string): unknown {
  composeSpec(parse(text, { merge: true }));
  return composeSpec.errors ?? [];
}

interface Kubernetes {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

function kubernetesErrors(object: Kubernetes): unknown {
  const validate = ajv.getSchema(`kubernetes-1.32.json#/$defs/${object.kind}`);
  if (validate === undefined) return `no schema of the kind ${object.kind}`;
  void validate(object);
  return validate.errors ?? [];
}

/** Whether the program is on this machine. The schemas are checked in any case. */
const installed = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

test('the generated Compose file, and the one of this repository, follow the Compose Specification', () => {
  const dir = initDirectory();
  writeManifests('compose', dir, '9.9.9');
  const text = readFileSync(join(dir, 'compose.yaml'), 'utf8');
  expect(composeErrors(text)).toEqual([]);
  expect(composeErrors(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'))).toEqual([]);
  // The schema sees errors.
  expect(composeErrors(text.replace('healthcheck:', 'healthchecks:'))).not.toEqual([]);
  expect(composeErrors(text.replace('timeout: 5s', 'timeuot: 5s'))).not.toEqual([]);
});

test('every service of both Compose files has a health check, limits, a restart policy and a time to stop', () => {
  const dir = initDirectory();
  writeManifests('compose', dir, '9.9.9');
  const { services } = parse(readFileSync(join(dir, 'compose.yaml'), 'utf8')) as { services: Record<string, object> };
  expect(Object.keys(services)).toEqual(NAMES);
  for (const service of Object.values(services))
    expect(service).toMatchObject({
      healthcheck: { interval: '10s', timeout: '5s', retries: 3, start_period: '60s' },
      deploy: { resources: { limits: { cpus: '2', memory: '2G' }, reservations: { memory: '256M' } } },
      restart: 'unless-stopped',
      stop_grace_period: '40s',
    });
  const own = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as typeof parse & {
    services: Record<string, object>;
  };
  for (const name of ['review', 'judge', 'committer', 'gateway', 'codec'])
    expect(own.services[name]).toMatchObject({
      healthcheck: { test: expect.arrayContaining([expect.stringContaining('/readyz')]) as string[], timeout: '5s' },
      deploy: { resources: { limits: { memory: '2G' } } },
      restart: 'unless-stopped',
      stop_grace_period: '40s',
    });
});

/** A directory whose targets are databases: a base cannot mount a repository. */
function kustomized(): string {
  const dir = initDirectory();
  const targets = [{ name: 'shop', development: false, stageUrl: null, commitUrl: null }];
  writeFileSync(join(dir, 'targets.json'), JSON.stringify({ targets }));
  writeManifests('kubernetes', dir, '9.9.9');
  return dir;
}

test('each object of the Kustomize base follows the strict schema of Kubernetes', () => {
  const dir = kustomized();
  const { items, ...list } = JSON.parse(readFileSync(join(dir, 'kubernetes', 'countersign.json'), 'utf8')) as {
    items: Kubernetes[];
  };
  expect(list).toEqual({ apiVersion: 'v1', kind: 'List' });
  expect(items.map(({ kind }) => kind)).toEqual(['Namespace', ...NAMES.map(() => 'Deployment'), 'Service']);
  for (const item of items) expect([item.metadata.name, kubernetesErrors(item)]).toEqual([item.metadata.name, []]);
  const [, deployment] = items;
  const wrong = JSON.parse(JSON.stringify(deployment).replace('readinessProbe', 'readyProbe')) as Kubernetes;
  expect(kubernetesErrors(wrong)).not.toEqual([]);

  const base = parse(readFileSync(join(dir, 'kustomization.yaml'), 'utf8')) as Record<string, unknown>;
  expect(Object.keys(base)).toEqual(['apiVersion', 'kind', 'namespace', 'resources', 'secretGenerator']);
  for (const secret of base['secretGenerator'] as object[]) expect(Object.keys(secret)).toEqual(['name', 'files']);
});

test('kubectl, if it is installed, builds the base, and every name in a Deployment is that of a built Secret', () => {
  if (!installed('kubectl')) return;
  const dir = kustomized();
  const built = parseAllDocuments(execFileSync('kubectl', ['kustomize', dir], { encoding: 'utf8' })).map(
    (document) => document.toJS() as Kubernetes & { readonly data?: Record<string, string> },
  );
  for (const object of built)
    expect([object.metadata.name, kubernetesErrors(object)]).toEqual([object.metadata.name, []]);
  const secrets = built.filter(({ kind }) => kind === 'Secret');
  expect(secrets.map(({ metadata }) => metadata.name.replace(/-[a-z0-9]{10}$/, '')).sort()).toEqual(
    NAMES.map((name) => `countersign-${name}`).sort(),
  );
  for (const { metadata, data = {} } of secrets) {
    const users = built.filter(
      ({ kind, ...rest }) => kind === 'Deployment' && JSON.stringify(rest).includes(metadata.name),
    );
    expect([metadata.name, users.length]).toEqual([metadata.name, 1]);
    const settings = Buffer.from(data['settings.env'] ?? '', 'base64').toString('utf8');
    for (const [file] of settings.matchAll(/(?<=\/run\/countersign\/)\S+/g)) expect(Object.keys(data)).toContain(file);
  }
});

/** Of systemd.directives(7); systemd ignores what it does not know. */
const DIRECTIVES: Readonly<Record<string, readonly string[]>> = {
  Unit: ['Description', 'After', 'Wants', 'StartLimitIntervalSec'],
  Service: [
    ...['Type', 'User', 'EnvironmentFile', 'Environment', 'ExecStart', 'Restart', 'RestartSec'],
    ...['RestartPreventExitStatus', 'KillMode', 'TimeoutStopSec', 'MemoryMax', 'CPUQuota', 'TasksMax', 'UMask'],
    ...['NoNewPrivileges', 'ProtectSystem', 'ProtectHome', 'PrivateTmp', 'PrivateDevices', 'CapabilityBoundingSet'],
    ...['RestrictAddressFamilies', 'PrivateUsers', 'TemporaryFileSystem', 'BindReadOnlyPaths', 'BindPaths'],
    ...['InaccessiblePaths', 'ReadWritePaths'],
  ],
  Install: ['WantedBy'],
};

function units(): readonly string[] {
  return writeManifests('systemd', initDirectory(), '9.9.9').files.map(({ path }) => path);
}

test('systemd knows every directive of the units, in the section where it is', () => {
  for (const path of units()) {
    let section = '';
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      if (line === '' || line.startsWith('#')) continue;
      if (line.startsWith('[')) section = line.slice(1, -1);
      else
        expect([basename(path), DIRECTIVES[section]]).toEqual([
          basename(path),
          expect.arrayContaining([line.split('=')[0]]),
        ]);
    }
  }
});

test('systemd-analyze, if it is installed, finds nothing wrong in the units', () => {
  if (!installed('systemd-analyze')) return;
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units()], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});
