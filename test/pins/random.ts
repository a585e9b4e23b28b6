import { pick, seededRandom } from '../../chaos/seeded-random';

const STEPS = 1_000_000;

/** A reproducible stream of choices: the same seed gives the same inputs on every machine. */
export class Random {
  /** From 0 to `limit`, without `limit`. */
  readonly below: (limit: number) => number;

  constructor(seed: number) {
    this.below = seededRandom(seed);
  }

  chance(probability: number): boolean {
    return this.below(STEPS) < probability * STEPS;
  }

  pick<T>(from: readonly T[]): T {
    return pick(this.below, from);
  }
}
