/** Tells the parent process that this one polls its queue. A no-op if it was not started with an IPC channel. */
export function sayReady(): void {
  if (process.send === undefined) return;
  process.send('ready');
  // A parent that was killed cannot stop us: when its channel closes, we end this process.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  // The listener alone would keep a process alive that has stopped.
  process.channel?.unref();
}
