import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import type { writeManifests } from '../../cli/init/manifests/write-manifests';
import { compiled } from '../support/compiled';
import { eventually } from '../support/eventually';
import { RUN_ALL } from '../support/extent';
import { initialized, type Initialized } from '../support/initialized';
import { ownServers, type OwnServers } from '../support/own-servers';
import { ROOT } from '../support/root';

const NAMES: readonly string[] = ['review', 'judge', 'commit', 'gateway'];
/** Each process takes seconds to start. The systemd units start all of them; a sample is the committer, which reads the most files. */
const SAMPLE = RUN_ALL ? NAMES : ['commit'];
jest.setTimeout(180_000);

let servers: OwnServers;
let set: Initialized;
let write: typeof writeManifests;

beforeAll(async () => {
  servers = await ownServers();
  set = await initialized(servers);
  // The compiled module knows the folder of the installed package.
  const manifests = join(await compiled(), 'cli', 'init', 'manifests', 'write-manifests.js');
  write = jest.requireActual<{ writeManifests: typeof writeManifests }>(manifests).writeManifests;
}, 180_000);
afterAll(async () => {
  set.remove();
  await servers.stop();
});

/** What a manager of processes starts, and how it finds out that the process is ready. */
interface Start {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly ready: () => Promise<boolean>;
}

/** Starts each of the `tried` processes, waits until it is ready, and asserts that it stops in order when it gets SIGTERM. */
async function startAndStop(starts: readonly Start[], tried = NAMES): Promise<void> {
  expect(starts.map(({ name }) => name)).toEqual(NAMES);
  const running = starts.filter(({ name }) => tried.includes(name)).map((start) => ({ ...start, ...launch(start) }));
  try {
    await Promise.all(
      running.map(({ name, child, log, ready }) =>
        eventually(
          `${name} is ready`,
          async () => {
            if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${log()}`);
            return await ready();
          },
          { everyMs: 500, withinMs: 120_000 },
        ),
      ),
    );
    const codes = running.map(({ child }) => new Promise((resolve) => child.once('exit', resolve)));
    for (const { child } of running) child.kill('SIGTERM');
    expect(await Promise.all(codes)).toEqual(tried.map(() => 0));
  } finally {
    for (const { child } of running) child.kill('SIGKILL');
  }
}

function launch({ command: [program = '', ...args], env }: Start): { child: ChildProcess; log: () => string } {
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text = (text + chunk.toString('utf8')).slice(-2_000)));
  return { child, log: () => text };
}

async function answers200(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).ok;
  } catch (error) {
    // It does not listen yet, or is busy with its start. By name: the error is of another realm.
    if (!['TypeError', 'TimeoutError'].includes((error as Error).name)) throw error;
    return false;
  }
}

/** An environment file as systemd.exec(5) says: a value can be in single quotes. */
function environmentFile(path: string): Record<string, string> {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !/^[#;]/.test(line));
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1).replace(/^'(.*)'$/, '$1')];
    }),
  );
}

test('the four processes start from the generated systemd units, become ready, and stop', async () => {
  const { files } = write('systemd', set.dir, '9.9.9');
  const starts = files.map(({ path }): Start => {
    const unit = readFileSync(path, 'utf8');
    const values = (key: string): string[] =>
      unit.split('\n').flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []));
    const assigned = values('Environment').map((each) => each.split('=') as [string, string]);
    const [, url = ''] = /^#   curl -fsS (\S+)$/m.exec(unit) ?? [];
    return {
      name: basename(path).replace(/^countersign-(.*)\.service$/, '$1'),
      command: (values('ExecStart')[0] ?? '').split(' '),
      env: { ...Object.fromEntries(assigned), ...environmentFile(values('EnvironmentFile')[0] ?? '') },
      ready: () => answers200(url),
    };
  });
  await startAndStop(starts);
});

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly command: readonly string[];
        readonly secrets: readonly { readonly source: string; readonly target: string }[];
        readonly healthcheck: { readonly test: readonly string[] };
      }
    >
  >;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

test('processes start from the generated Compose file, and their health checks pass', async () => {
  const { files } = write('compose', set.dir, '9.9.9');
  const { services, secrets } = parse(readFileSync(files[0]?.path ?? '', 'utf8')) as Compose;
  // `node` and the working directory are those of the image.
  const inImage = (command: readonly string[]): string[] =>
    command.map((word) => (word === 'node' ? process.execPath : word));
  const starts = Object.entries(services).map(([name, service]): Start => {
    for (const { source, target } of service.secrets) expect(secrets[source]?.file).toBe(target);
    const [kind, ...check] = service.healthcheck.test;
    expect(kind).toBe('CMD');
    const [program = '', ...args] = inImage(check);
    return {
      name,
      command: inImage(service.command),
      env: { NODE_ENV: 'production' },
      ready: async () => {
        const child = spawn(program, args, { stdio: 'ignore', env: {} });
        return (await new Promise((resolve) => child.once('exit', resolve))) === 0;
      },
    };
  });
  await startAndStop(starts, SAMPLE);
});

interface Kustomization {
  readonly secretGenerator: readonly { readonly name: string; readonly files: readonly string[] }[];
}
interface Deployment {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly initContainers: readonly { readonly command: readonly string[] }[];
        readonly containers: readonly {
          readonly command: readonly string[];
          readonly ports: readonly { readonly containerPort: number }[];
          readonly readinessProbe: { readonly httpGet: { readonly path: string } };
        }[];
      };
    };
  };
}

test('processes start from the generated Deployments, with the files that the init container copies', async () => {
  write('kubernetes', set.dir, '9.9.9');
  const { secretGenerator } = parse(readFileSync(join(set.dir, 'kustomization.yaml'), 'utf8')) as Kustomization;
  const { items } = JSON.parse(readFileSync(join(set.dir, 'kubernetes', 'countersign.json'), 'utf8')) as {
    items: Deployment[];
  };
  const mounts: string[] = [];
  const starts = items
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ metadata: { name }, spec }): Start => {
      const [secret, mount] = ['secret', 'mount'].map((what) => mkdtempSync(join(tmpdir(), `countersign-${what}-`)));
      mounts.push(secret ?? '', mount ?? '');
      // The volumes of the pod are these two folders.
      const inPod = (text: string): string =>
        text.replaceAll('/run/countersign', mount ?? '').replaceAll('/secret/', `${secret}/`);
      for (const entry of secretGenerator.find((each) => each.name === name)?.files ?? []) {
        const [key = '', path = ''] = entry.split('=');
        const to = join(secret ?? '', key);
        copyFileSync(join(set.dir, path), to);
        if (key === 'settings.env') writeFileSync(to, inPod(readFileSync(to, 'utf8')));
      }
      const { initContainers, containers } = spec.template.spec;
      const [shell = '', ...copy] = (initContainers[0]?.command ?? []).map(inPod);
      expect(spawnSync(shell, copy, { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
      const [container] = containers;
      const port = container?.ports[0]?.containerPort;
      return {
        name: name.replace('countersign-', ''),
        command: (container?.command ?? []).map((word) => (word === 'node' ? process.execPath : inPod(word))),
        env: { NODE_ENV: 'production' },
        ready: () => answers200(`http://127.0.0.1:${port}${container?.readinessProbe.httpGet.path}`),
      };
    });
  try {
    await startAndStop(starts, SAMPLE);
  } finally {
    for (const path of mounts) rmSync(path, { recursive: true, force: true });
  }
});
