/** At most `limit` calls within `windowMs`, of all callers together. In memory: each gateway counts separately. */
export class Rate {
  #since = 0;
  #count = 0;

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
  ) {}

  /** False if the caller must wait. */
  take(now: number): boolean {
    // The clock can have been set back since.
    if (Math.abs(now - this.#since) >= this.windowMs) {
      this.#since = now;
      this.#count = 0;
    }
    return ++this.#count <= this.limit;
  }
}
