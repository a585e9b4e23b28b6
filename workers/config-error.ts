/** An invalid configuration, thrown before anything is connected. Exit code 2. Without imports, so that `countersign --help` does not load schemas. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
