import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Codes with which a file system refuses a hard link that it does not support, as on many memory sticks. */
const NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Creates a file with mode 600, whole or not at all; on a file system without hard links, a process that is killed meanwhile can leave a
 * part. Throws EEXIST if it exists.
 */
export function createWhole(path: string, text: string): void {
  withTemporary(path, text, (temporary) => {
    try {
      linkSync(temporary, path);
    } catch (error) {
      if (!NO_LINKS.has((error as NodeJS.ErrnoException).code)) throw error;
      copyFileSync(temporary, path, constants.COPYFILE_EXCL);
    }
  });
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
  syncDirectory(dirname(path));
}

/** Codes of a system that cannot flush a directory, such as Windows, and of a directory that this user may not read. */
const NO_FLUSH: ReadonlySet<unknown> = new Set(['EACCES', 'EBADF', 'EINVAL', 'EISDIR', ...NO_LINKS]);

/** Otherwise the name of the file can be lost if the machine fails, while what it replaces is deleted next. */
function syncDirectory(path: string): void {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    fsyncSync(fd);
  } catch (error) {
    if (!NO_FLUSH.has((error as NodeJS.ErrnoException).code)) throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
