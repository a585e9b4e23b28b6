import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../workers/config-error';

/** Makes the directory with mode 700. Throws ConfigError if it exists and other users can read it. */
export function privateDirectory(path: string): void {
  makeDirectory(path);
  const mode = statSync(path).mode & 0o777;
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new ConfigError(`${path}: other users can read it (mode ${mode.toString(8)}); run: chmod 700 ${path}`);
}

/** Not `recursive`: Node 20 then never returns if `mkdir` fails with ENOENT below an existing directory, as in /proc. */
function makeDirectory(path: string): void {
  if (isDirectory(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it.
    if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Writes a file with mode 600, whole or not at all. False if it already has this content. */
export function writePrivate(path: string, text: string): boolean {
  if (existsSync(path) && readFileSync(path, 'utf8') === text && (statSync(path).mode & 0o077) === 0) return false;
  const temporary = temporaryPath(path);
  try {
    const fd = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
  return true;
}

/** Lets `write` create a temporary file, and links it to `path` when it is complete. Throws if `path` exists. */
export function createWhole(path: string, write: (temporary: string) => void): void {
  const temporary = temporaryPath(path);
  makeDirectory(dirname(path));
  try {
    write(temporary);
    linkSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function temporaryPath(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.tmp`;
}
