import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { startTime } from './processes';

/** Who holds a lock: a process by pid and start time (a pid alone may be reused), and facts for whoever finds it held. */
export interface LockHolder {
  readonly pid: number;
  readonly startTime: string;
  readonly facts: Readonly<Record<string, string | number>>;
}

/** A lock we hold. `update` replaces the facts; `release` is idempotent and leaves a lock that is no longer ours alone. */
export interface HeldLock {
  readonly kind: 'held';
  /** What a process that died left in the lock; undefined when it was free. */
  readonly leftBy: LockHolder | undefined;
  update(facts: LockHolder['facts']): void;
  release(): void;
}

export type LockAttempt = HeldLock | { readonly kind: 'busy'; readonly holder: LockHolder };

/**
 * Takes the lock file, or says which living process holds it. A lock whose process is gone is taken over.
 * The file appears whole (written aside, then linked), so a reader never sees half of it.
 */
export function tryLock(path: string, facts: LockHolder['facts'] = {}): LockAttempt {
  mkdirSync(dirname(path), { recursive: true });
  const mine: LockHolder = { pid: process.pid, startTime: startTime(process.pid) ?? '', facts };
  let leftBy: LockHolder | undefined;
  for (let attempt = 0; attempt < 20; attempt++) {
    if (putNew(path, mine)) return held(path, mine, leftBy);
    const holder = readHolder(path);
    if (holder !== undefined && isAlive(holder)) return { kind: 'busy', holder };
    leftBy = holder ?? leftBy;
    takeAway(path, holder);
  }
  throw new Error(`Could not take the lock ${path}: other processes keep taking it. Try again.`);
}

/** Reads who holds a lock; undefined when it is free or not readable as ours. */
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

/** Whether the very process that wrote the lock still runs. */
export function isAlive(holder: LockHolder): boolean {
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

// Two processes may find the same dead lock. Renaming is atomic, so one wins; and what was renamed away is put back when
// it turns out to be a lock that somebody else has just taken.
function takeAway(path: string, dead: LockHolder | undefined): void {
  const aside = `${path}.stale.${randomBytes(4).toString('hex')}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const got = readHolder(aside);
  if (got !== undefined && isAlive(got) && (got.pid !== dead?.pid || got.startTime !== dead.startTime))
    putNew(path, got);
  rmSync(aside, { force: true });
}

function held(path: string, mine: LockHolder, leftBy: LockHolder | undefined): HeldLock {
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
    leftBy,
    update(facts) {
      current = { ...current, facts };
      const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
      writeFileSync(aside, JSON.stringify(current), { mode: 0o600 });
      renameSync(aside, path);
    },
    release,
  };
}
