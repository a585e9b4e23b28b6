const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Calls `stop` on the first SIGHUP, SIGINT or SIGTERM, with the exit code that shells use for it. A later signal exits at once, and exit
 * hooks still run. One Ctrl-C can arrive several times (from the terminal, npm and scripts/run.mjs), so repeats within a second are ignored.
 * Returns the function that removes the listeners, which has no effect after the first signal.
 */
export function onStopSignal(stop: (signal: keyof typeof EXIT_CODES, exitCode: number) => void): () => void {
  let signalledAt: number | undefined;
  const listener = (signal: keyof typeof EXIT_CODES): void => {
    if (signalledAt === undefined) {
      signalledAt = Date.now();
      stop(signal, EXIT_CODES[signal]);
    } else if (Date.now() - signalledAt > 1_000) process.exit(EXIT_CODES[signal]);
  };
  const signals = Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[];
  for (const signal of signals) process.on(signal, listener);
  return () => {
    if (signalledAt === undefined) for (const signal of signals) process.removeListener(signal, listener);
  };
}
