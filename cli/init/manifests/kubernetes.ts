import { extname, isAbsolute, relative } from 'node:path';
import { ConfigError } from '../../../workers/config-error';
import { NAMES_FILE, type DeployedProcess } from './processes';

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
const NAMESPACE = 'countersign';
const USER = 1000; // `node` of the image

/**
 * A Kustomize base: a Deployment per process, each with a Secret of its settings and a Secret of its files. Throws ConfigError
 * for what it cannot mount: a repository as a target, or a file outside of the directory.
 */
export function kustomizeBase(facts: KustomizeFacts): readonly ManifestFile[] {
  const { processes, dir, version } = facts;
  const repository = processes.flatMap(({ writes }) => writes)[0];
  if (repository !== undefined)
    throw new ConfigError(
      `--write kubernetes: the target ${repository} is a repository, for which a pod needs a volume; run the committer with --write systemd or compose`,
    );
  const outside = processes.flatMap(({ files }) => files).find((path) => !isInside(dir, path));
  if (outside !== undefined)
    throw new ConfigError(
      `--write kubernetes: ${outside} is outside of ${dir}, where Kustomize cannot read it; move it there`,
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

function isInside(dir: string, path: string): boolean {
  const from = relative(dir, path);
  return !from.startsWith('..') && !isAbsolute(from);
}

/** The name of a file in its Secret. Its extension tells Node which kind of module it is. */
const secretKey = (path: string, index: number): string => `file-${index}${extname(path)}`;

function kustomization(processes: readonly DeployedProcess[], dir: string): string {
  return [
    '# Written by `countersign init --write kubernetes`. Build and push the image, and set it here if it has another name.',
    'apiVersion: kustomize.config.k8s.io/v1beta1',
    'kind: Kustomization',
    `namespace: ${NAMESPACE}`,
    'resources: [kubernetes/countersign.json]',
    'secretGenerator:',
    ...processes.flatMap(({ name, files }) => [
      `  - name: countersign-${name}`,
      `    envs: [kubernetes/${name}.env]`,
      `  - name: countersign-${name}-files`,
      '    files:',
      ...files.map((path, i) => `      - ${JSON.stringify(`${secretKey(path, i)}=${relative(dir, path)}`)}`),
    ]),
    '',
  ].join('\n');
}

/** The settings of a process, with the paths of its container. Kustomize reads values as they are, without quotes. */
function settings({ env, files, port }: DeployedProcess): string {
  const inContainer = new Map(files.map((path, i) => [path, `${MOUNT}/${secretKey(path, i)}`]));
  const paths = (value: string): string =>
    value
      .split(',')
      .map((path) => inContainer.get(path.trim()) ?? path)
      .join(',');
  const isPath = (name: string): boolean => NAMES_FILE.test(name) || name === 'COUNTERSIGN_EXTENSIONS';
  const values = Object.entries({ ...env, ...(port === null ? {} : { COUNTERSIGN_GATEWAY_HOST: '0.0.0.0' }) });
  return values.map(([name, value]) => `${name}=${isPath(name) ? paths(value) : value}\n`).join('');
}

function deployment({ name, script, port }: DeployedProcess, version: string): object {
  const app = `countersign-${name}`;
  const image = `countersign:${version}`;
  const securityContext = {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  };
  const mounts = [
    { name: 'files', mountPath: MOUNT },
    { name: 'tmp', mountPath: '/tmp' },
  ];
  const probe = (path: string): object => ({ httpGet: { path, port } });
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
          terminationGracePeriodSeconds: 40,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: USER,
            runAsGroup: USER,
            fsGroup: USER,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          initContainers: [
            {
              name: 'files',
              image,
              // The group can read a Secret volume, and a process refuses a key file that others can read.
              command: ['sh', '-c', `install -m 400 /secret/* ${MOUNT}/`],
              volumeMounts: [
                { name: 'files', mountPath: MOUNT },
                { name: 'secret', mountPath: '/secret', readOnly: true },
              ],
              securityContext,
              resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '64Mi' } },
            },
          ],
          containers: [
            {
              name,
              image,
              command: ['node', script],
              envFrom: [{ secretRef: { name: app } }],
              volumeMounts: mounts,
              securityContext,
              resources: { requests: { cpu: '250m', memory: '512Mi' }, limits: { memory: '2Gi' } },
              ...(port === null
                ? {}
                : { readinessProbe: probe('/readyz'), livenessProbe: { ...probe('/healthz'), failureThreshold: 6 } }),
            },
          ],
          volumes: [
            { name: 'secret', secret: { secretName: `${app}-files`, defaultMode: 0o440 } },
            { name: 'files', emptyDir: { medium: 'Memory' } },
            { name: 'tmp', emptyDir: {} },
          ],
        },
      },
    },
  };
}

/** Only the gateway is called by others. */
function service({ name, port }: DeployedProcess): readonly object[] {
  if (port === null) return [];
  const app = `countersign-${name}`;
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: app },
      spec: { selector: { app }, ports: [{ name: 'http', port, targetPort: port }] },
    },
  ];
}
