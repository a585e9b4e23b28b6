/**
 * An invalid configuration, thrown before anything is connected. Exit code 2. This file has no imports, so that `countersign --help`
 * does not load schemas.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
