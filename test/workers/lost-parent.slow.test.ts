import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiled } from '../support/compiled';
import { eventually } from '../support/eventually';

const dir = mkdtempSync(join(tmpdir(), 'countersign-lost-parent-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
jest.setTimeout(60_000);

/** Starts a process that waits for a signal, as a child of a shell with these variables, and ends that shell with SIGTERM. */
async function afterShell(name: string, env: Readonly<Record<string, string>>) {
  const [script, file] = [join(dir, `${name}.cjs`), join(dir, `${name}.txt`)];
  const said = (): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const module = join(await compiled(), 'workers', 'on-stop-signal.js');
  writeFileSync(
    script,
    `const { appendFileSync } = require('node:fs');
     require(${JSON.stringify(module)}).onStopSignal((signal) => { appendFileSync(${JSON.stringify(file)}, signal); process.exit(); });
     setInterval(() => {}, 1000);
     appendFileSync(${JSON.stringify(file)}, process.pid + ' ');`,
  );
  const { npm_command: _, ...others } = process.env;
  const shell = spawn('sh', ['-c', '"$0" "$1"; exit 0', process.execPath, script], { env: { ...others, ...env } });
  await eventually('the process runs', async () => said() !== '', { everyMs: 20 });
  shell.kill('SIGTERM');
  return { pid: Number.parseInt(said(), 10), said };
}

test('a process that npm started stops when only the shell of npm was ended', async () => {
  const { said } = await afterShell('npm', { npm_command: 'exec' });
  await eventually('it stops', async () => said().endsWith(' SIGTERM'), { everyMs: 50 });
});

test('a process that was started without npm outlives its shell, and stops on a signal', async () => {
  const { pid, said } = await afterShell('shell', {});
  await pause(1_500);
  expect(said()).toBe(`${pid} `);
  process.kill(pid, 'SIGHUP');
  await eventually('it stops', async () => said() === `${pid} SIGHUP`, { everyMs: 50 });
});
