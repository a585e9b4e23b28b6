/** One entry of `validatorFindings` that came out otherwise. */
export interface FindingDifference {
  readonly validatorId: string;
  /** Canonical JSON of the entry; null where the array has none. */
  readonly recorded: string | null;
  readonly recomputed: string | null;
}

/** What came of computing the derived findings of one change again. */
export interface ReplayReport {
  readonly changeId: string;
  /** Whether the recomputed array is the recorded one, byte for byte, but for what is `notReproducible`. */
  readonly equal: boolean;
  /** Findings that were computed again; the others are attested, skipped, or made by the assembly. */
  readonly recomputed: number;
  readonly findings: number;
  /** Recorded as ERROR of a time-out or a lost worker: such an entry says itself that it may come out otherwise. */
  readonly notReproducible: readonly string[];
  readonly differences: readonly FindingDifference[];
}

/** What came of checking chains and checkpoints, of one change or of all. */
export interface LedgerReport {
  readonly ok: boolean;
  readonly rows: number;
  readonly changes: number;
  readonly checkpoints: number;
  /** Rows that no checkpoint covers yet: written since the last one. */
  readonly uncovered: number;
  /** At most 100, with the total. */
  readonly problems: readonly string[];
  readonly problemCount: number;
}
