import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes a file of the state directory that only this user may read. Returns its path. */
export function writeJson(dir: string, name: string, value: unknown): string {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, name);
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  return path;
}
