const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const LOOK_AT_PARENT_MS = 500;

/**
 * Calls `stop` on the first SIGHUP, SIGINT or SIGTERM, with the exit code that shells use for it, and as on SIGTERM when npm, which started
 * this process, has ended. A later signal exits at once, and exit hooks still run. One Ctrl-C can arrive several times (from the terminal,
 * npm and scripts/run.mjs), so repeats within a second are ignored. Returns the function that removes the listeners, which has no effect
 * after the first signal.
 */
export function onStopSignal(stop: (signal: keyof typeof EXIT_CODES, exitCode: number) => void): () => void {
  let signalledAt: number | undefined;
  const listener = (signal: keyof typeof EXIT_CODES): void => {
    if (signalledAt === undefined) {
      signalledAt = Date.now();
      forgetParent();
      stop(signal, EXIT_CODES[signal]);
    } else if (Date.now() - signalledAt > 1_000) process.exit(EXIT_CODES[signal]);
  };
  const forgetParent = onLostParent(() => listener('SIGTERM'));
  const signals = Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[];
  for (const signal of signals) process.on(signal, listener);
  return () => {
    if (signalledAt !== undefined) return;
    forgetParent();
    for (const signal of signals) process.removeListener(signal, listener);
  };
}

/**
 * npm and npx start a program through a shell and send a SIGTERM only to that shell, which ends and passes nothing on. Without npm, a
 * process may outlive the shell that started it.
 */
function onLostParent(lost: () => void): () => void {
  if (process.env['npm_command'] === undefined) return () => {};
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== parent) lost();
  }, LOOK_AT_PARENT_MS);
  timer.unref();
  return () => clearInterval(timer);
}
