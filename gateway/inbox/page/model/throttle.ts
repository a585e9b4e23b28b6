/**
 * Calls `act` `ms` after the first of several calls. Calls that never pause do not delay it, and calls while it acts cause one more, when it
 * has ended: a slow reading is never overtaken by the next one.
 */
export function throttle(
  act: () => Promise<void>,
  ms: number,
): { readonly call: () => void; readonly cancel: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isCalled = false;
  let isCancelled = false;
  const run = async (): Promise<void> => {
    isCalled = false;
    try {
      await act();
    } finally {
      timer = undefined;
      if (isCalled) call();
    }
  };
  const call = (): void => {
    isCalled = true;
    if (!isCancelled) timer ??= setTimeout(() => void run(), ms);
  };
  return {
    call,
    cancel: () => {
      isCancelled = true;
      clearTimeout(timer);
    },
  };
}

/** Calls `act` now, and again `ms` after each time that it has ended: a slow reading is not overtaken here either. Returns how to stop. */
export function repeat(act: () => Promise<void>, ms: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  const run = async (): Promise<void> => {
    await act();
    if (!isStopped) timer = setTimeout(() => void run(), ms);
  };
  void run();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
