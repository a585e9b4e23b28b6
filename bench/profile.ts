import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector/promises';
import { basename, join } from 'node:path';

/** Functions that are listed for each process. */
const SHOWN = 10;

/** Arguments with which node writes a profile of each of its threads into the folder when it ends. */
export function profilingArguments(dir: string): readonly string[] {
  mkdirSync(dir, { recursive: true });
  return ['--cpu-prof', `--cpu-prof-dir=${dir}`];
}

/** Runs the work with a profile of this thread. */
export async function profiled<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly profile: Profiler.Profile }> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    const result = await work();
    const { profile } = await session.post('Profiler.stop');
    return { result, profile };
  } finally {
    session.disconnect();
  }
}

/** The profiles in the folder, by process and thread. `pids`: processes by name. */
export function readProfiles(
  dir: string,
  pids: Readonly<Record<string, number>>,
): ReadonlyMap<string, Profiler.Profile> {
  const names = new Map(Object.entries(pids).map(([name, pid]) => [String(pid), name]));
  const profiles = new Map<string, Profiler.Profile>();
  for (const file of readdirSync(dir).sort()) {
    // CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile
    const [, , , pid = '', thread = ''] = basename(file).split('.');
    const name = names.get(pid);
    if (name === undefined) continue;
    const profile = JSON.parse(readFileSync(join(dir, file), 'utf8')) as Profiler.Profile;
    profiles.set(thread === '0' ? name : `${name} thread ${thread}`, profile);
  }
  return profiles;
}

/** The functions in which most time was spent themselves, with their share of the time in which the thread was not idle. */
export function mostExpensiveFunctions({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): readonly string[] {
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const spent = new Map<string, number>();
  samples.forEach((id, i) => {
    const name = nameOf(byId.get(id));
    if (name !== '(idle)') spent.set(name, (spent.get(name) ?? 0) + (timeDeltas[i] ?? 0));
  });
  const all = [...spent.values()].reduce((sum, time) => sum + time, 0);
  return [...spent]
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([name, time]) => `${((100 * time) / Math.max(1, all)).toFixed(1).padStart(5)} %  ${name}`);
}

function nameOf(frame: Profiler.ProfileNode['callFrame'] | undefined): string {
  if (frame === undefined) return 'unknown';
  const { functionName, url, lineNumber } = frame;
  const file = url.replace(/^.*\/(?=(node_modules|dist)\/)/, '');
  return file === '' ? functionName || '(anonymous)' : `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}`;
}
