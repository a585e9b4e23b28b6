/** Thrown at start, before anything is connected. Exit code 2. In a file of its own, so that the CLI's help loads no schema. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
