import { Option } from 'commander';
import { Name } from '../policy/contracts/diff';
import { SubjectId } from '../policy/contracts/subject-id';
import { UsageError } from './usage-error';

export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** The value of an option, by its flag such as `--operator-key`. */
export function optionValue(options: Options, flag: string): Options[string] {
  return options[new Option(flag).attributeName()];
}

/** Whether an option without a value was given. */
export function isGiven(options: Options, flag: string): boolean {
  return optionValue(options, flag) === true;
}

/** A text option; undefined if it was not given. */
export function textOption(options: Options, flag: string): string | undefined {
  const value = optionValue(options, flag);
  return typeof value === 'string' ? value : undefined;
}

/** A text option that must not be empty; undefined if it was not given. */
export function nonEmptyOption(options: Options, flag: string): string | undefined {
  const value = textOption(options, flag);
  if (value === '') throw new UsageError(`${flag} is missing`);
  return value;
}

/** A text option that must be given and not be empty. */
export function requiredOption(options: Options, flag: string): string {
  const value = nonEmptyOption(options, flag);
  if (value === undefined) throw new UsageError(`${flag} is missing`);
  return value;
}

/** A text option as a list, separated by commas; undefined if it was not given. */
export function listOption(options: Options, flag: string): readonly string[] | undefined {
  return textOption(options, flag)
    ?.split(',')
    .map((item) => item.trim());
}

/** A text option that must be one of `choices`, which the message lists as `expected`; undefined if it was not given. */
export function choiceOption<Choice extends string>(
  options: Options,
  flag: string,
  choices: readonly Choice[],
  expected = choices.join(', '),
): Choice | undefined {
  const given = textOption(options, flag);
  if (given === undefined) return undefined;
  const choice = choices.find((each) => each === given);
  if (choice === undefined) throw new UsageError(`${flag}: expected ${expected}, got "${given}"`);
  return choice;
}

export interface IntegerBounds<Default = number> {
  readonly min: number;
  readonly max: number;
  /** Used if the option was not given. */
  readonly default: Default;
}

/** An integer option within bounds. */
export function integerOption<Default>(
  options: Options,
  flag: string,
  bounds: IntegerBounds<Default>,
): number | Default {
  const value = textOption(options, flag);
  if (value === undefined) return bounds.default;
  const number = Number(value);
  if (value.trim() !== '' && Number.isInteger(number) && number >= bounds.min && number <= bounds.max) return number;
  throw new UsageError(`${flag}: expected a whole number from ${bounds.min} to ${bounds.max}, got "${value}"`);
}

/** A change id, or another SHA-256 digest or key, given as an argument. */
export function hexArgument(value: string, name: string): string {
  if (isHex64(value)) return value;
  throw new UsageError(`${name}: expected 64 lower-case hex digits, got "${value}"`);
}

/** The id of a person, agent or service, normalized to NFKC and lower case. `name`: the argument or option, for the message. */
export function subjectId(given: string, name: string): string {
  const id = SubjectId.safeParse(given.normalize('NFKC').toLowerCase());
  if (id.success) return id.data;
  throw new UsageError(`${name}: "${given}": ${id.error.issues[0]?.message ?? 'not a valid id'}`);
}

/** The name of a tenant or target. `name`: the argument, option or variable, for the message. */
export function nameOf(given: string, name: string): string {
  if (Name.safeParse(given).success) return given;
  throw new UsageError(`${name}: "${given}": expected 1 to 63 of A-Z a-z 0-9 . _ -`);
}

/** The name of a target for which roles are created: PostgreSQL truncates role names such as `countersign_commit_<name>` at 63 bytes. */
export function targetName(given: string, name: string): string {
  if (given.length > 44) throw new UsageError(`${name}: expected a name of at most 44 characters, got "${given}"`);
  return nameOf(given, name);
}

export function isHex64(value: string): boolean {
  return /^[0-9a-f]{64}$/.test(value);
}
