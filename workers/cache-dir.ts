import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Env } from './config';

/** The cache of downloaded and built programs: COUNTERSIGN_CACHE, or `.cache/countersign` in the home directory. */
export function cacheDir(env: Env = process.env): string {
  return resolve(env['COUNTERSIGN_CACHE'] ?? join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'countersign'));
}
