/** Polls until `ask` resolves with a value, as an approver's client does: immediately, then every 250 ms. */
export async function poll<T>(ask: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const status = await ask();
    if (status !== null) return status;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
