import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { replaceWhole } from '../signing/whole-file';
import { ConfigError } from '../workers/config-error';

/** Makes the directory with mode 700. Throws ConfigError if it exists and other users can read it. */
export function privateDirectory(path: string): void {
  makeDirectory(path);
  const mode = statSync(path).mode & 0o777;
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new ConfigError(`${path}: other users can read it (mode ${mode.toString(8)}); run: chmod 700 ${path}`);
}

/** With mode 700. Not `recursive`: Node 20 then never returns if `mkdir` fails with ENOENT below an existing directory, as in /proc. */
export function makeDirectory(path: string): void {
  if (isDirectory(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it.
    if (isDirectory(path)) return;
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new ConfigError(`${path}: expected a directory, got a file`);
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Writes a file with mode 600, whole or not at all. False if it already has this content. */
export function writePrivate(path: string, text: string): boolean {
  if (existsSync(path) && readFileSync(path, 'utf8') === text && (statSync(path).mode & 0o077) === 0) return false;
  replaceWhole(path, text);
  return true;
}
