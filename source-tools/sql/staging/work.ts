import type { Instrumented } from './returning';

/** One statement to run. Its SQL is chosen once the target table and the server version are known. */
export interface Work {
  /** For display: `statement 2 (UPDATE)`, `/rows/0`. */
  readonly place: string;
  readonly sha: string;
  readonly command: string;
  readonly values: readonly unknown[];
  /** Quoted SQL name of the relation that it writes. Null if only statistics can show what it writes. */
  readonly target: string | null;
  /** The unchanged SQL, sent if the target is not a regular table. */
  readonly plain: string;
  readonly instrument: (versionNumber: number) => Instrumented;
  /** Reason why the effect can never be captured, regardless of counts, or null. For example `empties tables without counting rows`. */
  readonly uncapturable: string | null;
  /** For compare-and-set: unless it affects exactly one row, the change is stale. */
  readonly exactlyOne: boolean;
}
