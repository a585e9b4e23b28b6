/** At most `limit` calls within `windowMs`, of everyone together. In memory: with several gateways each has its own bound. */
export class Rate {
  #since = 0;
  #count = 0;

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
  ) {}

  /** False if the caller must wait. */
  take(now: number): boolean {
    if (now - this.#since >= this.windowMs) {
      this.#since = now;
      this.#count = 0;
    }
    return ++this.#count <= this.limit;
  }
}
