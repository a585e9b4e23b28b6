/** The command line is wrong. Exit code 2. */
export class UsageError extends Error {}
