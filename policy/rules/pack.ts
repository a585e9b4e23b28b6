import type { PackRule } from './rule-maker';

/** A group of rules that a bundle enables with one name. */
export interface Pack {
  readonly name: string;
  /** One sentence: what the rules check. */
  readonly about: string;
  readonly rules: readonly PackRule[];
}
