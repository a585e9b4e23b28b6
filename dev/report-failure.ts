/** Prints why a program failed, with the stack, and sets its exit code to 1. */
export function reportFailure(error: unknown): void {
  process.stderr.write(`${failureText(error)}\n`);
  process.exitCode = 1;
}

export function failureText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
