import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const root = join(__dirname, '..', '..');
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

export interface Tarball {
  readonly path: string;
  readonly files: readonly string[];
}

/** Runs `npm pack` in a folder of this repository. The files in the tarball must have been built before. */
export function pack(folder: string, destination: string): Tarball {
  const args = ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', destination];
  const printed = run('npm', args, join(root, folder));
  const [packed] = JSON.parse(printed) as { filename: string; files: { path: string }[] }[];
  if (packed === undefined) throw new Error(`npm pack created no tarball in ${folder}`);
  return { path: join(destination, packed.filename), files: packed.files.map((file) => file.path) };
}

/** A new project with only this tarball, installed by npm without a network. */
export function emptyProject(type: 'module' | 'commonjs', tarball: Tarball): string {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-pack-')));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'empty', private: true, type }));
  run(
    'npm',
    ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', tarball.path],
    project,
  );
  return project;
}

/** The server's tarball, installed in a folder, with its dependencies linked: npm would download 200 MB. Returns its folder. */
export function installedServer(tarball: Tarball, project: string): string {
  const modules = join(project, 'node_modules');
  const server = join(modules, 'countersign');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  mkdirSync(server, { recursive: true });
  run('tar', ['-xzf', tarball.path, '--strip-components=1', '-C', server], project);
  const { dependencies, bin } = JSON.parse(readFileSync(join(server, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
    bin: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) link(project, name);
  for (const [name, script] of Object.entries(bin)) {
    chmodSync(join(server, script), 0o755);
    symlinkSync(join('..', 'countersign', script), join(modules, '.bin', name));
  }
  return server;
}

/** Links a package from this repository's own dependencies instead of downloading it. */
export function link(project: string, name: string): void {
  const path = join(project, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(root, 'node_modules', name), path);
}

const ALWAYS = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node', '--pretty', 'false'];

/** Checks a project's file with the compiler of this repository, `strict`, and compiles it beside itself. */
export const compileIn = (project: string, file: string, text: string): Promise<void> =>
  compileWith(['--skipLibCheck'], project, file, text);

/** Like {@link compileIn}. Also checks the declarations of all packages that the file imports, which takes seconds. */
export const compileAgainstDeclarations = (project: string, file: string, text: string): Promise<void> =>
  compileWith(['--exactOptionalPropertyTypes'], project, file, text);

async function compileWith(flags: readonly string[], project: string, file: string, text: string): Promise<void> {
  writeFileSync(join(project, file), text);
  try {
    // Not synchronous: the workers that answer the compiled programs run in this process.
    await promisify(execFile)(process.execPath, [tsc, ...ALWAYS, ...flags, file], { cwd: project });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${file} does not compile:\n${stdout}${stderr}`, { cause: error });
  }
}

/** The output of the program. Throws with the output if it fails. */
export function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): string {
  try {
    return execFileSync(program, args, { cwd, env, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`, { cause: error });
  }
}
