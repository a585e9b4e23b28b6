/**
 * Nonces that were used, kept until their requests expire. The number is bounded: if all are unexpired, new requests are refused
 * (`full`), since dropping a nonce would let its request be replayed. Each key has a separate limit, so that one key cannot
 * block others. Kept in memory: with several gateways a request could be replayed once at each, which is harmless, since
 * every request is idempotent.
 */
export class Nonces {
  readonly #byKey = new Map<string, Map<string, number>>();
  #size = 0;

  constructor(private readonly bounds: { readonly perKey: number; readonly total: number }) {}

  /** Marks a nonce as used until `expiresAt` (ms). */
  spend(keyId: string, nonce: string, expiresAt: number, now: number): 'spent' | 'reused' | 'full' {
    const ofKey = this.#byKey.get(keyId) ?? new Map<string, number>();
    this.#removeExpired(ofKey, now);
    if (ofKey.has(nonce)) return 'reused';
    if (this.#size >= this.bounds.total) for (const other of this.#byKey.values()) this.#removeExpired(other, now);
    if (ofKey.size >= this.bounds.perKey || this.#size >= this.bounds.total) return 'full';
    ofKey.set(nonce, expiresAt);
    this.#byKey.set(keyId, ofKey);
    this.#size++;
    return 'spent';
  }

  get size(): number {
    return this.#size;
  }

  #removeExpired(nonces: Map<string, number>, now: number): void {
    for (const [nonce, expiresAt] of nonces) {
      if (expiresAt >= now) continue;
      nonces.delete(nonce);
      this.#size--;
    }
  }
}
