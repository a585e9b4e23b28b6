import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { startTime } from './processes';

/** The process that owns a lock, by pid and start time (a pid may be reused), with facts for messages to other processes. */
export interface LockHolder {
  readonly pid: number;
  readonly startTime: string;
  readonly facts: Readonly<Record<string, string | number>>;
}

/** A lock of this process. `update` replaces the facts; `release` is idempotent and does not touch a lock of another process. */
export interface HeldLock {
  readonly kind: 'held';
  update(facts: LockHolder['facts']): void;
  release(): void;
}

type LockAttempt = HeldLock | { readonly kind: 'busy'; readonly holder: LockHolder };

/**
 * Acquires the lock file, or returns the running process that owns it. A lock of a dead process is taken over.
 * The file is written aside and linked, so that a reader never sees part of it.
 */
export function tryLock(path: string): LockAttempt {
  mkdirSync(dirname(path), { recursive: true });
  const mine: LockHolder = { pid: process.pid, startTime: startTime(process.pid) ?? '', facts: {} };
  for (let attempt = 0; attempt < 20; attempt++) {
    if (putNew(path, mine)) return held(path, mine);
    const holder = readHolder(path);
    if (holder !== undefined && isAlive(holder)) return { kind: 'busy', holder };
    removeStale(path, holder);
  }
  throw new Error(`Could not acquire the lock ${path}: other processes keep acquiring it. Try again.`);
}

/** Reads the owner of a lock; undefined if it is free or not valid. */
export function readHolder(path: string): LockHolder | undefined {
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as Partial<LockHolder>;
    if (typeof value.pid !== 'number' || typeof value.startTime !== 'string') return undefined;
    return { pid: value.pid, startTime: value.startTime, facts: value.facts ?? {} };
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whether a running process owns the lock. */
export function isLocked(path: string): boolean {
  const holder = readHolder(path);
  return holder !== undefined && isAlive(holder);
}

/** Whether the process that wrote the lock still runs. */
function isAlive(holder: LockHolder): boolean {
  const now = startTime(holder.pid);
  return now !== undefined && now === holder.startTime;
}

function putNew(path: string, holder: LockHolder): boolean {
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(aside, JSON.stringify(holder), { mode: 0o600 });
  try {
    linkSync(aside, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

// Two processes may find the same dead lock. Renaming is atomic, so one wins. If the renamed file turns out to be a new lock
// of another process, it is restored.
function removeStale(path: string, dead: LockHolder | undefined): void {
  const aside = `${path}.stale.${randomBytes(4).toString('hex')}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const renamed = readHolder(aside);
  if (renamed !== undefined && isAlive(renamed) && (renamed.pid !== dead?.pid || renamed.startTime !== dead.startTime))
    putNew(path, renamed);
  rmSync(aside, { force: true });
}

function held(path: string, mine: LockHolder): HeldLock {
  let current = mine;
  const isMine = (): boolean => {
    const now = readHolder(path);
    return now?.pid === current.pid && now.startTime === current.startTime;
  };
  let released = false;
  const release = (): void => {
    if (released) return;
    released = true;
    process.removeListener('exit', release);
    if (isMine()) rmSync(path, { force: true });
  };
  process.on('exit', release);
  return {
    kind: 'held',
    update(facts) {
      current = { ...current, facts };
      const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
      writeFileSync(aside, JSON.stringify(current), { mode: 0o600 });
      renameSync(aside, path);
    },
    release,
  };
}
