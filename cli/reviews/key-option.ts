import { textOption, type Options } from '../options';
import { UsageError } from '../usage-error';
import type { Connected } from './connection';

/** The key file of `--key`, or of the login. Throws a UsageError if there is neither. */
export function keyFileOf({ keyFile }: Connected, options: Options): string {
  const file = textOption(options, '--key') ?? keyFile;
  if (file === null || file === '')
    throw new UsageError(
      '--key is missing: name your key file, set it with "countersign login", or make one with "countersign keys new"',
    );
  return file;
}
