import { ConfigError } from '../../../workers/config-error';
import { isInside, readable, type DeployedProcess } from './processes';

export interface UnitFacts {
  readonly processes: readonly DeployedProcess[];
  readonly dir: string;
  /** Path of the Node executable. */
  readonly node: string;
  /** Folder of the installed package. */
  readonly packageDir: string;
  readonly user: string;
}

/** One unit per process. Each can read only its own files of the directory. Throws ConfigError for paths that units cannot name or would hide. */
export function systemdUnits(facts: UnitFacts): readonly { readonly name: string; readonly text: string }[] {
  const { processes, dir, node, packageDir } = facts;
  for (const path of [
    dir,
    node,
    packageDir,
    ...processes.flatMap((process) => [...readable(process), ...process.writes]),
  ])
    if (!/^\/[A-Za-z0-9_./@+-]+$/.test(path))
      throw new ConfigError(`${path}: systemd needs an absolute path of letters, digits and _ . / @ + -`);
  const within = [node, packageDir].find((path) => isInside(dir, path));
  if (within !== undefined)
    throw new ConfigError(
      `${within}: the units hide ${dir} from their processes; use a directory that does not contain it`,
    );
  return processes.map((process) => ({ name: `countersign-${process.name}.service`, text: unit(process, facts) }));
}

/**
 * An allowlist inside the directory, which has keys that no process reads. Outside, the files of the other processes are hidden, except
 * CA certificates: Temporal's client reads those of the system.
 */
function visibleFiles(process: DeployedProcess, { processes, dir }: UnitFacts): readonly string[] {
  const own = new Set(readable(process));
  const others = new Set(
    processes.flatMap(({ files, modules }) => [...files, ...modules]).filter((path) => !own.has(path)),
  );
  return [
    `TemporaryFileSystem=${dir}:ro`,
    // A missing file is an error of the process, which names it; without the dash the unit would be started again for ever.
    ...[...own].filter((path) => isInside(dir, path)).map((path) => `BindReadOnlyPaths=-${path}`),
    ...[...others].filter((path) => !isInside(dir, path)).map((path) => `InaccessiblePaths=-${path}`),
    ...process.writes.map((path) => `${isInside(dir, path) ? 'BindPaths' : 'ReadWritePaths'}=${path}`),
  ];
}

function unit(process: DeployedProcess, facts: UnitFacts): string {
  const { node, packageDir, user } = facts;
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
    // All units have the same user. Without it, one could read the environment and the files of another through /proc/PID.
    'PrivateUsers=yes',
    ...visibleFiles(process, facts),
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ].join('\n');
}
