/**
 * A digest of what exported values and all that they reach do: of the code that a bundler keeps of them, with short names.
 * Names of locals, functions and files, types, comments, layout and what is not reached do not count. Operators, literals,
 * names of properties, order, globals and what is imported from packages count.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/root';

export interface Roots {
  readonly folder: string;
  /** Exported values with which the code begins; `*` is all exports of a file. */
  readonly exports: readonly (readonly [path: string, name: string])[];
}

/** Throws if a file or an export is missing. */
export function sourceDigests(roots: readonly Roots[]): readonly string[] {
  const script = ['--require', join(ROOT, 'test/pins/register.cjs'), join(ROOT, 'test/pins/bundle-digest.ts')];
  const output = execFileSync(process.execPath, script, {
    input: JSON.stringify(roots),
    encoding: 'utf8',
    stdio: 'pipe',
  });
  return JSON.parse(output) as readonly string[];
}
