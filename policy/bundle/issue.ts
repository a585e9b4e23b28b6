import type { z } from 'zod';
import { valueAt } from '../contracts/issues';
import { editDistance } from '../text/edit-distance';

/** One problem of a bundle: the place, the message and what to do. Line and column start at 1. */
export interface Issue {
  readonly line: number;
  readonly column: number;
  /** `validators[0].rules.sql_drop`; empty for the whole document. */
  readonly path: string;
  readonly message: string;
  readonly fix: string;
}

export type Path = readonly PropertyKey[];

/** Finds the place of a path in the bundle's text; with `key`, the place of the key instead of the value. */
export type Locate = (path: Path, key?: boolean) => { readonly line: number; readonly column: number };

/** For bundles that were not parsed from text. */
export const NOWHERE: Locate = () => ({ line: 1, column: 1 });

/** Formats a path, for example `validators[0].rules.sql_drop`. */
export function pathText(path: Path): string {
  return path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i === 0 ? '' : '.'}${String(part)}`))
    .join('');
}

/** An issue before its place in the text is known. With `atKey`, the place is the last key of the path. */
export interface Problem {
  readonly path: Path;
  readonly message: string;
  readonly fix: string;
  readonly atKey: boolean;
}

export function problem(path: Path, message: string, fix: string, atKey = false): Problem {
  return { path, message, fix, atKey };
}

/** The issues of the problems, sorted by their place in the text. */
export function toIssues(problems: readonly Problem[], locate: Locate): Issue[] {
  return problems
    .map(({ path, message, fix, atKey }) => issueAt(locate, path, message, fix, atKey))
    .sort((a, b) => a.line - b.line || a.column - b.column);
}

export function issueAt(locate: Locate, path: Path, message: string, fix: string, key = false): Issue {
  return { ...locate(path, key), path: pathText(path), message, fix };
}

/** The element of `known` that is nearest to `word`, if its edit distance is at most 2 and less than the length of `word`; else null. */
export function nearest(word: string, known: Iterable<string>): string | null {
  let best: string | null = null;
  let bestDistance = Math.min(3, word.length);
  for (const candidate of known) {
    const distance = editDistance(word.slice(0, 100), candidate.slice(0, 100));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** What to do about an unknown name: the most similar known name, or the list of known names. */
export function didYouMean(word: string, known: readonly string[]): string {
  const like = nearest(word, known);
  if (like !== null) return `Did you mean "${like}"?`;
  return known.length === 0
    ? 'No names are known here.'
    : `Use one of: ${known.slice(0, 30).join(', ')}${known.length > 30 ? ', …' : ''}`;
}

/** As `didYouMean`, for names that an extension can register. */
export function orRegister(word: string, known: readonly string[], kind: 'tools' | 'rules' | 'callbacks'): string {
  const text = didYouMean(word, known);
  return `${/[.?]$/.test(text) ? text : `${text}.`} COUNTERSIGN_EXTENSIONS names the modules with ${kind} of your own.`;
}

/** Converts zod issues. `data` is the parsed value; it distinguishes a missing member from an invalid one. */
export function fromZod(error: z.ZodError, data: unknown, knownKeys: readonly string[], at: Path = []): Problem[] {
  return error.issues.flatMap((issue) => fromZodIssue(issue as z.core.$ZodIssue, data, knownKeys, at));
}

function fromZodIssue(issue: z.core.$ZodIssue, data: unknown, knownKeys: readonly string[], at: Path): Problem[] {
  const path = [...at, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const like = nearest(key, knownKeys);
      const fix =
        like === null || like === key
          ? `Remove "${key}"; it is not a key of this object.`
          : `Did you mean "${like}"? Otherwise remove it.`;
      return problem([...path, key], `Unknown key "${key}"`, fix, true);
    });
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const branch = likeliest(issue.errors, valueAt(data, issue.path));
    if (branch !== null)
      return branch.flatMap((inner) => fromZodIssue(inner, valueAt(data, issue.path), knownKeys, path));
    return [problem(path, 'The value matches none of the allowed forms', unionFix(issue.errors))];
  }
  const needed = issue.code === 'invalid_type' || issue.code === 'invalid_value' || issue.code === 'invalid_union';
  const missing = needed && issue.path.length > 0 && valueAt(data, issue.path) === undefined;
  const last = String(path.at(-1) ?? '');
  if (missing) return [problem(path, `Missing "${last}"`, `Add "${last}": ${expectation(issue)}.`)];
  const isZero = ZERO_TIME.test(String(valueAt(data, issue.path)));
  return [problem(path, issue.message, isZero ? 'A time of zero is not possible: write at least 1.' : fixOf(issue))];
}

/** A duration without any time, such as `0s`. */
const ZERO_TIME = /^0+(?:ms|s|m|h|d)$/;

/** The issues of the union branch that was probably meant: same root type and no missing member. Null if not exactly one. */
function likeliest(
  errors: readonly (readonly z.core.$ZodIssue[])[],
  value: unknown,
): readonly z.core.$ZodIssue[] | null {
  const meant = errors.filter(
    (issues) =>
      !issues.some(
        (issue) => wrongRoot(issue) || (issue.path.length === 1 && valueAt(value, issue.path) === undefined),
      ),
  );
  return meant.length === 1 ? (meant[0] ?? null) : null;
}

function wrongRoot(issue: z.core.$ZodIssue): boolean {
  return issue.path.length === 0 && issue.code !== 'unrecognized_keys' && issue.code !== 'custom';
}

function unionFix(errors: readonly (readonly z.core.$ZodIssue[])[]): string {
  const forms = errors.map((issues) => {
    const names = issues
      .filter((issue) => issue.path.length === 1 && issue.code === 'invalid_type')
      .map((issue) => String(issue.path[0]));
    return names.length > 0 ? `{${names.join(', ')}}` : issues.map(formOf).join(' ');
  });
  return `Use one of: ${[...new Set(forms)].join(' | ')}`;
}

/** What a value of this branch of a union looks like. */
function formOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value') return issue.values.map((value) => JSON.stringify(value)).join(', ');
  return issue.code === 'invalid_type' ? yamlName(issue.expected) : fixOf(issue);
}

/** Whether a schema states itself what it expects, such as the form of a duration. */
function hasOwnMessage({ message }: z.core.$ZodIssue): boolean {
  return message.startsWith('expected ');
}

function expectation(issue: z.core.$ZodIssue): string {
  if (hasOwnMessage(issue)) return issue.message;
  if (issue.code === 'invalid_value') return `one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
  return 'expected' in issue ? `expected ${yamlName(issue.expected)}` : issue.message;
}

function fixOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return hasOwnMessage(issue) ? 'Correct the value.' : `Write ${yamlName(issue.expected)} here.`;
    case 'invalid_value':
      return `Use one of: ${issue.values.map((value) => JSON.stringify(value)).join(', ')}.`;
    case 'too_big':
      return `At most ${String(issue.maximum)}.`;
    case 'too_small':
      return `At least ${String(issue.minimum)}.`;
    default:
      return 'Correct the value.';
  }
}

/** A type as an author of YAML calls it. */
function yamlName(type: string): string {
  const names: Readonly<Record<string, string>> = {
    string: 'text',
    array: 'a list, such as [a, b]',
    object: 'keys with values, such as {key: value}',
    record: 'keys with values, such as {key: value}',
    int: 'a whole number',
    number: 'a number',
    boolean: 'true or false',
  };
  return names[type] ?? type;
}
