import type { PackRule } from './rule-maker';

/** Rules that a bundle names together. */
export interface Pack {
  readonly name: string;
  /** One sentence: what it looks at. */
  readonly about: string;
  readonly rules: readonly PackRule[];
}
