/** One entry of `validatorFindings` that differs after recomputation. */
export interface FindingDifference {
  readonly validatorId: string;
  /** Canonical JSON of the entry; null if the array has no such entry. */
  readonly recorded: string | null;
  readonly recomputed: string | null;
}

/** Result of recomputing the derived findings of one change. */
export interface ReplayReport {
  readonly changeId: string;
  /** True if the recomputed array is byte-equal to the recorded one, except for the entries in `notReproducible`. */
  readonly equal: boolean;
  /** Number of recomputed findings. The others are attested, skipped or created by the assembly. */
  readonly recomputed: number;
  readonly findings: number;
  /** Ids of entries recorded as an ERROR of a timeout or a lost worker, which may differ when recomputed. */
  readonly notReproducible: readonly string[];
  readonly differences: readonly FindingDifference[];
}

/** Result of verifying chains and checkpoints of one change or of all changes. */
export interface LedgerReport {
  readonly ok: boolean;
  readonly rows: number;
  readonly changes: number;
  readonly checkpoints: number;
  /** Number of rows written since the last checkpoint. */
  readonly uncovered: number;
  /** The first 100 problems; `problemCount` is the total. */
  readonly problems: readonly string[];
  readonly problemCount: number;
}
