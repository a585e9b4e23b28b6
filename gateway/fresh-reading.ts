/** A value that is read again when it is `maxAgeMs` old. Calls in between share one reading; a reading that failed is not kept. */
export class FreshReading<T> {
  #last: { readonly at: number; readonly value: Promise<T> } | null = null;

  constructor(
    private readonly read: () => Promise<T>,
    private readonly maxAgeMs: number,
    /** Milliseconds. */
    private readonly now: () => number,
  ) {}

  async get(): Promise<T> {
    const at = this.now();
    // The clock can have been set back since.
    if (this.#last !== null && Math.abs(at - this.#last.at) < this.maxAgeMs) return await this.#last.value;
    const reading = { at, value: this.read() };
    this.#last = reading;
    try {
      return await reading.value;
    } catch (error) {
      if (this.#last === reading) this.#last = null;
      throw error;
    }
  }
}
