import { ConfigError } from '../../../workers/config-error';
import type { DeployedProcess } from './processes';

export interface UnitFacts {
  readonly processes: readonly DeployedProcess[];
  readonly dir: string;
  /** Path of the Node executable. */
  readonly node: string;
  /** Folder of the installed package. */
  readonly packageDir: string;
  readonly user: string;
}

/** One unit per process. Each can read only its own files of the directory. */
export function systemdUnits(facts: UnitFacts): readonly { readonly name: string; readonly text: string }[] {
  const { processes, dir, node, packageDir } = facts;
  for (const path of [
    dir,
    node,
    packageDir,
    ...processes.flatMap(({ files, modules, writes }) => [...files, ...modules, ...writes]),
  ])
    if (!/^[A-Za-z0-9_./@+-]+$/.test(path))
      throw new ConfigError(`${path}: systemd needs a path of letters, digits and _ . / @ + -`);
  return processes.map((process) => ({ name: `countersign-${process.name}.service`, text: unit(process, facts) }));
}

function unit(process: DeployedProcess, { processes, dir, node, packageDir, user }: UnitFacts): string {
  const readable = ({ envFile, files, modules }: DeployedProcess) => [envFile, ...files, ...modules];
  const own = readable(process);
  const secrets = new Set([`${dir}/cli.env`, ...processes.flatMap(readable)]);
  const hidden = [...secrets].filter((path) => !own.includes(path));
  return [
    '# Written by `countersign init --write systemd`. Whether the process is ready:',
    `#   curl -fsS http://${process.health.host}:${process.health.port}/readyz`,
    '[Unit]',
    `Description=Countersign ${process.title}`,
    'After=network-online.target',
    'Wants=network-online.target',
    // Without it systemd gives up after five failed starts in ten seconds, for example while Temporal is down.
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    `User=${user}`,
    `EnvironmentFile=${process.envFile}`,
    'Environment=NODE_ENV=production',
    `ExecStart=${node} --enable-source-maps ${packageDir}/${process.script}`,
    'Restart=always',
    'RestartSec=2',
    // An invalid configuration.
    'RestartPreventExitStatus=2',
    'KillMode=mixed',
    'TimeoutStopSec=40',
    'MemoryMax=2G',
    'CPUQuota=200%',
    'TasksMax=512',
    'UMask=0077',
    'NoNewPrivileges=yes',
    'ProtectSystem=strict',
    'ProtectHome=read-only',
    'PrivateTmp=yes',
    'PrivateDevices=yes',
    'CapabilityBoundingSet=',
    'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX',
    ...hidden.map((path) => `InaccessiblePaths=-${path}`),
    ...process.writes.map((path) => `ReadWritePaths=${path}`),
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ].join('\n');
}
