import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { messageOf } from '../client/errors';
import { ConfigError } from './config-error';

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

/** The environment of a command: variables of the shell, then those of the file `cli.env` in the state directory. */
export function withCliEnv(
  stateDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return { ...readEnvFile(join(stateDir, CLI_ENV_FILE)), ...env };
}
