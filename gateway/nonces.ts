/**
 * Nonces that were used, for as long as their requests could still pass. Bounded: when full of live ones, new requests are refused
 * (`full`), since forgetting one would let its request pass twice. A key has a share of its own, so that it cannot fill the place
 * of others. In memory: behind several gateways a request could pass once at each; every request is idempotent, so nothing comes
 * of it but the same answer.
 */
export class Nonces {
  readonly #byKey = new Map<string, Map<string, number>>();
  #size = 0;

  constructor(private readonly bounds: { readonly perKey: number; readonly total: number }) {}

  /** Spends a nonce that is good until `expiresAt` (ms). */
  spend(keyId: string, nonce: string, expiresAt: number, now: number): 'spent' | 'reused' | 'full' {
    const own = this.#byKey.get(keyId) ?? new Map<string, number>();
    this.#forget(own, now);
    if (own.has(nonce)) return 'reused';
    if (this.#size >= this.bounds.total) for (const other of this.#byKey.values()) this.#forget(other, now);
    if (own.size >= this.bounds.perKey || this.#size >= this.bounds.total) return 'full';
    own.set(nonce, expiresAt);
    this.#byKey.set(keyId, own);
    this.#size++;
    return 'spent';
  }

  get size(): number {
    return this.#size;
  }

  #forget(nonces: Map<string, number>, now: number): void {
    for (const [nonce, expiresAt] of nonces) {
      if (expiresAt >= now) continue;
      nonces.delete(nonce);
      this.#size--;
    }
  }
}
