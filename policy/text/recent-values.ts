/**
 * LRU cache for results of pure functions. The cache key is a text that contains the complete input. Bounded by the number of entries
 * and by the total length of their keys, regardless of what an attacker sends.
 *
 * Only for results that never change, such as "this key made this signature". Never cache what depends on the time or on the registry,
 * above all whether a key is revoked.
 */
export class RecentValues<Value extends object | string | number | true> {
  /** In the order of their last use. */
  readonly #values = new Map<string, Value>();
  #length = 0;

  constructor(private readonly limits: { readonly entries: number; readonly length: number }) {}

  get(text: string): Value | undefined {
    const value = this.#values.get(text);
    if (value === undefined) return undefined;
    this.#values.delete(text);
    this.#values.set(text, value);
    return value;
  }

  /** The cached value, or the result of `make`, which is then cached. */
  getOrMake(text: string, make: () => Value): Value {
    const known = this.get(text);
    if (known !== undefined) return known;
    const value = make();
    this.set(text, value);
    return value;
  }

  /** A no-op if the text alone exceeds the bound on the length. */
  set(text: string, value: Value): void {
    if (text.length > this.limits.length) return;
    this.#drop(text);
    this.#values.set(text, value);
    this.#length += text.length;
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.limits.entries && this.#length <= this.limits.length) return;
      this.#drop(oldest);
    }
  }

  get size(): number {
    return this.#values.size;
  }

  #drop(text: string): void {
    if (this.#values.delete(text)) this.#length -= text.length;
  }
}
