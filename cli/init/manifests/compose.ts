import { EXTRA_CA } from './named-files';
import { ENV_FILE_OPTION, type DeployedProcess } from './processes';

export interface ComposeFacts {
  readonly processes: readonly DeployedProcess[];
  readonly version: string;
  /** Owner of the directory; other users cannot read its files. */
  readonly uid: number;
  readonly gid: number;
}

/** A Compose file that runs the processes with the files of the directory, each with only its own. */
export function composeFile({ processes, version, uid, gid }: ComposeFacts): string {
  return [
    '# Written by `countersign init --write compose`. Build the image in a clone of the repository:',
    `#   docker build -t countersign:${version} .`,
    '# The processes use the network of the host, so that the addresses in the settings are valid here too.',
    '# Settings and keys are secrets: each is a file in the container of its process only, and not in its description.',
    'name: countersign',
    'services:',
    ...processes.flatMap((process) => service(process, version, `${uid}:${gid}`)),
    'secrets:',
    ...processes.flatMap((process) =>
      secretFiles(process).map((path, i) => `  ${process.name}-${i}: { file: ${text(path)} }`),
    ),
    '',
  ].join('\n');
}

const secretFiles = ({ envFile, files }: DeployedProcess): readonly string[] => [envFile, ...files];

function service(process: DeployedProcess, version: string, user: string): readonly string[] {
  const { name, script, envFile, env, certificates, modules, writes, health } = process;
  const ready = `http://${health.host}:${health.port}/readyz`;
  const probe = `fetch('${ready}').then((r) => { process.exitCode = r.ok ? 0 : 1; })`;
  const binds = [
    ...[...certificates, ...modules].map((path) => bind(path, true)),
    ...writes.map((path) => bind(path, false)),
  ];
  return [
    `  ${name}:`,
    `    image: ${text(`countersign:${version}`)}`,
    `    command: [node, ${text(`${ENV_FILE_OPTION}${envFile}`)}, ${script}]`,
    `    user: ${text(user)}`,
    '    network_mode: host',
    ...(env[EXTRA_CA] === undefined ? [] : [`    environment: { ${EXTRA_CA}: ${text(env[EXTRA_CA])} }`]),
    '    secrets:',
    ...secretFiles(process).map((path, i) => `      - { source: ${name}-${i}, target: ${text(path)} }`),
    ...(binds.length === 0 ? [] : ['    volumes:', ...binds]),
    '    restart: unless-stopped',
    '    init: true',
    '    read_only: true',
    '    tmpfs: [/tmp]',
    '    cap_drop: [ALL]',
    `    security_opt: ['no-new-privileges:true']`,
    '    stop_grace_period: 40s',
    `    deploy: { resources: { limits: { cpus: '2', memory: 2G }, reservations: { memory: 256M } } }`,
    '    healthcheck:',
    `      test: [CMD, node, -e, ${text(probe)}]`,
    '      interval: 10s',
    '      timeout: 5s',
    '      retries: 3',
    '      start_period: 60s',
  ];
}

function bind(path: string, readOnly: boolean): string {
  return `      - { type: bind, source: ${text(path)}, target: ${text(path)}, read_only: ${readOnly} }`;
}

/** A YAML scalar for any string. Compose replaces `$NAME`, so `$` is written as `$$`. */
function text(value: string): string {
  return JSON.stringify(value).replaceAll('$', '$$$$');
}
