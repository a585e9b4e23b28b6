import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Prints a line of progress. Standard output is for results. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** A wrong option of a program. Its user needs no stack. */
export class UsageError extends Error {}

/** Runs a program and ends its process, with the exit code that `main` returns: 1 if it throws, 2 for wrong options. */
export function runProgram(main: () => Promise<number | void>): void {
  // Exits explicitly: servers left over from a failed start are stopped with this process, and an open connection does not keep it alive.
  const exit = (code: number): void => void process.stdout.write('', () => process.exit(code));
  // Wrong options may throw before there is a promise.
  Promise.resolve()
    .then(main)
    .then(
      (code) => exit(code ?? 0),
      (error: unknown) => {
        const isUsage = isWrongOption(error);
        process.stderr.write(`${isUsage ? error.message : failureText(error)}\n`);
        exit(isUsage ? 2 : 1);
      },
    );
}

/**
 * The options of the command line by these defaults, and the flag `--json`, which every program has: a text for one with a value, false
 * for a flag. Throws the errors of `parseArgs`.
 */
export function readOptions<D extends Readonly<Record<string, string | false>>>(
  defaults: D,
): { readonly [N in keyof D]: D[N] extends string ? string : boolean } & { readonly json: boolean } {
  const options = Object.entries({ json: false as const, ...defaults }).map(([name, value]) =>
    value === false ? [name, { type: 'boolean', default: value }] : [name, { type: 'string', default: value }],
  );
  const { values } = parseArgs({ options: Object.fromEntries(options) as NonNullable<ParseArgsConfig['options']> });
  return values as ReturnType<typeof readOptions<D>>;
}

/** An option that must be a whole number from `min` on. Throws UsageError. */
export function wholeNumber(name: string, text: string, min = 1): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < min)
    throw new UsageError(`${name}: expected a whole number from ${min}, got "${text}"`);
  return value;
}

/** An option that must be a number above 0. Throws UsageError. */
export function positiveNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new UsageError(`${name}: expected a number above 0, got "${text}"`);
  return value;
}

/** Also the errors of `parseArgs`. */
function isWrongOption(error: unknown): error is Error {
  return error instanceof UsageError || String((error as { code?: unknown } | null)?.code).startsWith('ERR_PARSE_ARGS');
}

function failureText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
