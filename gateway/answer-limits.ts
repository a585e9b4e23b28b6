const WINDOW_MS = 5 * 60_000;

/** Most answers that one key may send in five minutes, and most of them that may be refused. */
const MAX_SENT = 500;
const MAX_REFUSED = 25;
/** Keys are registered by an operator, so only a registry of this size fills the table. */
const MAX_KEYS = 100_000;

interface Count {
  readonly since: number;
  sent: number;
  refused: number;
}

/**
 * Limits the answers of each key, so that one key cannot exhaust a review's updates or refusal rows and lock approvers out. In memory:
 * each gateway counts separately.
 */
export class AnswerLimits {
  readonly #counts = new Map<string, Count>();

  constructor(private readonly bounds = { sent: MAX_SENT, refused: MAX_REFUSED }) {}

  /** Counts `n` answers that a key sends. False if the key must wait; then nothing is counted. */
  take(keyId: string, n: number, now: number): boolean {
    const count = this.#countOf(keyId, now);
    if (count === null || count.sent + n > this.bounds.sent || count.refused >= this.bounds.refused) return false;
    count.sent += n;
    return true;
  }

  refused(keyId: string, n: number, now: number): void {
    const count = this.#countOf(keyId, now);
    if (count !== null) count.refused += n;
  }

  #countOf(keyId: string, now: number): Count | null {
    const known = this.#counts.get(keyId);
    // The clock can have been set back since.
    if (known !== undefined && Math.abs(now - known.since) < WINDOW_MS) return known;
    if (known === undefined && this.#counts.size >= MAX_KEYS) {
      for (const [id, { since }] of this.#counts) if (now - since >= WINDOW_MS) this.#counts.delete(id);
      if (this.#counts.size >= MAX_KEYS) return null;
    }
    const fresh: Count = { since: now, sent: 0, refused: 0 };
    this.#counts.set(keyId, fresh);
    return fresh;
  }
}
