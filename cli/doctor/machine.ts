import { accessSync, constants } from 'node:fs';
import { messageOf } from '../../client/errors';
import type { Env } from '../../workers/config';
import { unknownVariables } from '../../workers/process-env';
import { failed, passed, type Check } from './check';

/** The minimum is `engines.node` of package.json. */
export function checkNode(version = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const fits = major > 20 || (major === 20 && minor >= 20);
  return fits ? passed('Node', version) : failed('Node', version, 'Install Node 22 or 24');
}

/** Processes refuse to start with such a variable. */
export function checkVariables(where: string, env: Env): readonly Check[] {
  return unknownVariables(env).map(({ name, nearest }) =>
    failed(`variable ${name}`, `set in ${where}, but no process reads it`, `Remove it, or did you mean ${nearest}?`),
  );
}

/** A directory that cannot be read looks like one without settings. */
export function checkStateDir(dir: string): readonly Check[] {
  try {
    accessSync(`${dir}/`, constants.R_OK | constants.X_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    const fix = 'Run this as the user that owns the directory, or correct COUNTERSIGN_STATE_DIR';
    return [failed('state directory', messageOf(error), fix)];
  }
  return [];
}
