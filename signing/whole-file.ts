import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Creates a file with mode 600, whole or not at all. Throws EEXIST if it exists. */
export function createWhole(path: string, text: string): void {
  withTemporary(path, text, (temporary) => linkSync(temporary, path));
}

/** As `createWhole`, in place of a file that may exist. */
export function replaceWhole(path: string, text: string): void {
  withTemporary(path, text, (temporary) => renameSync(temporary, path));
}

function withTemporary(path: string, text: string, finish: (temporary: string) => void): void {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const fd = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    finish(temporary);
  } finally {
    rmSync(temporary, { force: true });
  }
}
