import type { DeployedProcess } from './processes';

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
    '# The processes use the network of the host, so that the addresses in the environment files are valid here too.',
    'name: countersign',
    'services:',
    ...processes.flatMap((process) => service(process, version, `${uid}:${gid}`)),
    '',
  ].join('\n');
}

function service(process: DeployedProcess, version: string, user: string): readonly string[] {
  const { name, script, envFile, files, writes, port } = process;
  const probe = `fetch('http://127.0.0.1:${port}/readyz').then((r) => { process.exitCode = r.ok ? 0 : 1; })`;
  return [
    `  ${name}:`,
    `    image: ${text(`countersign:${version}`)}`,
    `    command: [node, ${script}]`,
    `    user: ${text(user)}`,
    `    env_file: [${text(envFile)}]`,
    '    network_mode: host',
    '    volumes:',
    ...files.map((path) => bind(path, true)),
    ...writes.map((path) => bind(path, false)),
    '    restart: unless-stopped',
    '    init: true',
    '    read_only: true',
    '    tmpfs: [/tmp]',
    '    cap_drop: [ALL]',
    `    security_opt: ['no-new-privileges:true']`,
    '    stop_grace_period: 40s',
    `    deploy: { resources: { limits: { cpus: '2', memory: 2G } } }`,
    ...(port === null
      ? []
      : [
          '    healthcheck:',
          `      test: [CMD, node, -e, ${text(probe)}]`,
          '      interval: 10s',
          '      timeout: 5s',
          '      start_period: 30s',
        ]),
  ];
}

function bind(path: string, readOnly: boolean): string {
  return `      - { type: bind, source: ${text(path)}, target: ${text(path)}, read_only: ${readOnly} }`;
}

/** A YAML scalar for any string. Compose replaces `$NAME`, so `$` is written as `$$`. */
function text(value: string): string {
  return JSON.stringify(value).replaceAll('$', '$$$$');
}
