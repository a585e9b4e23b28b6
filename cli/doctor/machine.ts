import type { Env } from '../../workers/config';
import { findInstalledCli } from '../../workers/installed-temporal-cli';
import { unknownVariables } from '../../workers/process-env';
import { failed, passed, type Check } from './check';

/** The minimum is `engines.node` of package.json. */
export function checkNode(version = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const fits = major > 20 || (major === 20 && minor >= 20);
  return fits ? passed('Node', version) : failed('Node', version, 'Install Node 22 or 24');
}

/** Only `countersign dev` needs it. Throws if COUNTERSIGN_TEMPORAL_CLI names another program. */
export async function checkCli(env: Env): Promise<Check> {
  const found = await findInstalledCli(env);
  if (found !== undefined) return passed('Temporal CLI', `${found.cliPath} (${found.from})`);
  if (env['TEMPORAL_ADDRESS'] !== undefined) return passed('Temporal CLI', 'not found; a server is configured');
  return failed(
    'Temporal CLI',
    'not found',
    'Optional if you run a Temporal server. "countersign dev" downloads or builds it, or set COUNTERSIGN_TEMPORAL_CLI',
  );
}

/** Processes refuse to start with such a variable. */
export function checkVariables(where: string, env: Env): readonly Check[] {
  return unknownVariables(env).map(({ name, nearest }) =>
    failed(`variable ${name}`, `set in ${where}, but no process reads it`, `Remove it, or did you mean ${nearest}?`),
  );
}
