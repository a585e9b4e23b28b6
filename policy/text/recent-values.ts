/**
 * Memoized results of pure functions: the most recently used ones, by a text that contains the whole input. Bounded in their number and in the
 * total length of their texts, regardless of what an attacker sends; the oldest are dropped first.
 *
 * Only for results that never change, such as "this key made this signature". What depends on the time or on the registry, above all
 * whether a key is revoked, must be decided anew each time.
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

  /** The known value of `text`, or that of `make`, which is then known. */
  getOrMake(text: string, make: () => Value): Value {
    const known = this.get(text);
    if (known !== undefined) return known;
    const value = make();
    this.set(text, value);
    return value;
  }

  /** Does not keep a value whose text alone exceeds the bound. */
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
