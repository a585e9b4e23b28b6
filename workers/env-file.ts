import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { messageOf } from '../client/errors';
import { ConfigError } from './config-error';
import { areOfDatabase, readsFile } from './folder-files';

type Values = Readonly<Record<string, string>>;

/** Variables of the CLI, in the directory that `countersign init` writes. */
export const CLI_ENV_FILE = 'cli.env';

/** The variables of a file that `formatEnvFile` or a person wrote; empty if it does not exist. Throws ConfigError if it cannot be read. */
export function readEnvFile(path: string): Values {
  if (!existsSync(path)) return {};
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${path}: ${messageOf(error)}`);
  }
  return Object.fromEntries(
    Object.entries(parseEnv(text)).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** One `NAME=value` per line, which shells, systemd, Docker Compose and Node read alike. Throws ConfigError for a value that they would not. */
export function formatEnvFile(values: Values): string {
  const lines = Object.entries(values).map(([name, value]) => {
    if (/['\n\r\0\\]/.test(value))
      throw new ConfigError(`${name}: expected a value without quotes, backslashes and line feeds`);
    return /^[A-Za-z0-9_./:@%+,=-]*$/.test(value) ? `${name}=${value}\n` : `${name}='${value}'\n`;
  });
  return lines.join('');
}

type Env = Readonly<Record<string, string | undefined>>;

/** Variables of the shell, then those of the file `cli.env` in a state directory. */
export function withCliEnv(stateDir: string, env: Env): Env {
  return { ...readEnvFile(join(stateDir, CLI_ENV_FILE)), ...env };
}

/** The environment of a command, with the file `cli.env` of the directory that the shell names, or of `.countersign` in this folder. */
export function commandEnv(shell: Env): Env {
  const { COUNTERSIGN_STATE_DIR: named } = shell;
  const dir = resolve(named ?? '.countersign');
  if (!readsFile(shell, join(dir, CLI_ENV_FILE))) return shell;
  // The file is in a state directory: it names no other one.
  const { COUNTERSIGN_STATE_DIR: _, ...env } = withCliEnv(dir, shell);
  if (!areOfDatabase(shell, readEnvFile(join(dir, CLI_ENV_FILE))['COUNTERSIGN_DATABASE_URL'])) return shell;
  return named === undefined ? env : { ...env, COUNTERSIGN_STATE_DIR: named };
}
