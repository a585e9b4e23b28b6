import { extname, relative } from 'node:path';
import { ConfigError } from '../../../workers/config-error';
import { formatEnvFile } from '../../../workers/env-file';
import { EXTRA_CA, NAMES_FILE } from './named-files';
import { ENV_FILE_OPTION, isInside, readable, type DeployedProcess } from './processes';

export interface KustomizeFacts {
  readonly processes: readonly DeployedProcess[];
  readonly dir: string;
  readonly version: string;
}

/** A file to write; `path` is relative to the directory. */
export interface ManifestFile {
  readonly path: string;
  readonly text: string;
}

const MOUNT = '/run/countersign';
const SETTINGS = 'settings.env';
const NAMESPACE = 'countersign';
const USER = 1000; // `node` of the image

/**
 * A Kustomize base: a Deployment per process, each with a Secret of its settings and files, which it reads as files. Throws ConfigError
 * for what it cannot mount: a repository as a target, a file outside of the directory, or one that the URL of a database names.
 */
export function kustomizeBase(facts: KustomizeFacts): readonly ManifestFile[] {
  const { processes, dir, version } = facts;
  const repository = processes.flatMap(({ writes }) => writes)[0];
  if (repository !== undefined)
    throw new ConfigError(
      `--write kubernetes: the target ${repository} is a repository, for which a pod needs a volume; run the committer with --write systemd or compose`,
    );
  const [inUrl] = processes.flatMap(({ inUrls }) => inUrls);
  if (inUrl !== undefined)
    throw new ConfigError(
      `--write kubernetes: the URL of a database names ${inUrl}, which has another path in a pod; for a CA, leave out sslrootcert and set NODE_EXTRA_CA_CERTS in the file of each process`,
    );
  const outside = processes.flatMap(readable).find((path) => !isInside(dir, path));
  if (outside !== undefined)
    throw new ConfigError(
      `--write kubernetes: ${outside} is outside of ${dir}, where Kustomize cannot read it; move it there`,
    );
  const far = processes
    .flatMap(({ noticeSecrets }) => [...noticeSecrets.values()])
    .find((name) => !SECRET_KEY.test(name));
  if (far !== undefined)
    throw new ConfigError(
      `--write kubernetes: the file of notices names ${far}; expected a file beside it, named with letters, digits and . _ -`,
    );
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    ...processes.map((process) => deployment(process, version)),
    ...processes.flatMap(service),
  ];
  return [
    { path: 'kustomization.yaml', text: kustomization(processes, dir) },
    {
      path: 'kubernetes/countersign.json',
      text: `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`,
    },
    ...processes.map((process) => ({ path: `kubernetes/${process.name}.env`, text: settings(process) })),
  ];
}

/** A file of a process. */
interface Mounted {
  readonly path: string;
  /** Its name in the Secret and in the container. */
  readonly key: string;
}

const SECRET_KEY = /^[-._a-zA-Z0-9]+$/;

function mounted(process: DeployedProcess): readonly Mounted[] {
  // Node needs the extension to know the kind of module. The file of notices refers to its secrets by name.
  return readable(process).map((path, i) => ({
    path,
    key: process.noticeSecrets.get(path) ?? `file-${i}${extname(path)}`,
  }));
}

function kustomization(processes: readonly DeployedProcess[], dir: string): string {
  return [
    '# Written by `countersign init --write kubernetes`. Build and push the image, and set it here if it has another name.',
    'apiVersion: kustomize.config.k8s.io/v1beta1',
    'kind: Kustomization',
    `namespace: ${NAMESPACE}`,
    'resources: [kubernetes/countersign.json]',
    'secretGenerator:',
    ...processes.flatMap((process) => [
      `  - name: countersign-${process.name}`,
      '    files:',
      `      - ${SETTINGS}=kubernetes/${process.name}.env`,
      ...mounted(process).map(({ path, key }) => `      - ${JSON.stringify(`${key}=${relative(dir, path)}`)}`),
    ]),
    '',
  ].join('\n');
}

/** The settings of a process, with the paths of its container. */
function settings(process: DeployedProcess): string {
  const inContainer = new Map(mounted(process).map(({ path, key }) => [path, `${MOUNT}/${key}`]));
  const paths = (value: string): string =>
    value
      .split(',')
      .map((path) => inContainer.get(path.trim()) ?? path)
      .join(',');
  const isPath = (name: string): boolean => NAMES_FILE.test(name) || name === 'COUNTERSIGN_EXTENSIONS';
  const values = Object.entries({ ...process.env, ...process.health.everywhere });
  return formatEnvFile(Object.fromEntries(values.map(([name, value]) => [name, isPath(name) ? paths(value) : value])));
}

const CONFINED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** Copies the Secret: its group can read a Secret volume, and a process refuses a key file that others can read. */
function filesContainer(image: string): object {
  return {
    name: 'files',
    image,
    command: ['sh', '-c', `install -m 400 /secret/* ${MOUNT}/`],
    volumeMounts: [
      { name: 'files', mountPath: MOUNT },
      { name: 'secret', mountPath: '/secret', readOnly: true },
    ],
    securityContext: CONFINED,
    resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { cpu: '100m', memory: '64Mi' } },
  };
}

function deployment(process: DeployedProcess, version: string): object {
  const { name, script, health } = process;
  const extraCa = mounted(process).filter(({ path }) => path === process.env[EXTRA_CA]);
  const app = `countersign-${name}`;
  const image = `countersign:${version}`;
  const mounts = [
    { name: 'files', mountPath: MOUNT },
    { name: 'tmp', mountPath: '/tmp' },
  ];
  const probe = (path: string, more: object): object => ({
    httpGet: { path, port: 'http' },
    timeoutSeconds: 5,
    periodSeconds: 10,
    ...more,
  });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: app, labels: { app } },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app } },
      template: {
        metadata: { labels: { app } },
        spec: {
          // Its variables would have the prefix COUNTERSIGN_, and processes refuse unknown ones.
          enableServiceLinks: false,
          automountServiceAccountToken: false,
          restartPolicy: 'Always',
          terminationGracePeriodSeconds: 40,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: USER,
            runAsGroup: USER,
            fsGroup: USER,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          initContainers: [filesContainer(image)],
          containers: [
            {
              name,
              image,
              command: ['node', `${ENV_FILE_OPTION}${MOUNT}/${SETTINGS}`, script],
              env: extraCa.map(({ key }) => ({ name: EXTRA_CA, value: `${MOUNT}/${key}` })),
              ports: [{ name: 'http', containerPort: health.port }],
              volumeMounts: mounts,
              securityContext: CONFINED,
              resources: { requests: { cpu: '250m', memory: '512Mi' }, limits: { cpu: '2', memory: '2Gi' } },
              startupProbe: probe('/healthz', { periodSeconds: 2, failureThreshold: 60 }),
              readinessProbe: probe('/readyz', { failureThreshold: 3 }),
              livenessProbe: probe('/healthz', { failureThreshold: 6 }),
            },
          ],
          volumes: [
            { name: 'secret', secret: { secretName: app, defaultMode: 0o440 } },
            { name: 'files', emptyDir: { medium: 'Memory' } },
            { name: 'tmp', emptyDir: {} },
          ],
        },
      },
    },
  };
}

/** Only the gateway needs a Service: nothing calls the workers. */
function service({ name, health }: DeployedProcess): readonly object[] {
  if (name !== 'gateway') return [];
  const app = `countersign-${name}`;
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: app },
      spec: { selector: { app }, ports: [{ name: 'http', port: health.port, targetPort: 'http' }] },
    },
  ];
}
