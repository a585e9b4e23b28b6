import { type Io } from '../action';
import { choiceOption, type Options } from '../options';
import { UsageError } from '../usage-error';

/** The first of `names` unless --format or --json says otherwise. */
export function formatOption<Name extends string>(io: Io, options: Options, names: readonly Name[]): Name | 'json' {
  const name = choiceOption(options, '--format', names);
  if (name === undefined) return io.json ? 'json' : (names[0] as Name);
  if (io.json && name !== 'json') throw new UsageError('--json and --format cannot be combined');
  return name;
}
