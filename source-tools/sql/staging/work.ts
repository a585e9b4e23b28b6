/** One thing to run. `text` is chosen once the target and the server are known. */
export interface Work {
  /** For people: `statement 2 (UPDATE)`, `/rows/0`. */
  readonly place: string;
  readonly sha: string;
  readonly command: string;
  readonly values: readonly unknown[];
  /** SQL text of the relation that it writes, quoted; null where only statistics can tell. */
  readonly target: string | null;
  /** As it stands, for what is no plain table. */
  readonly plain: string;
  readonly instrument: (
    versionNumber: number,
  ) =>
    | { readonly captures: true; readonly text: string }
    | { readonly captures: false; readonly text: string; readonly reason: string };
  /** Said of the change as a whole, whatever the counts: `empties tables without counting rows`. */
  readonly uncapturable: string | null;
  /** A compare-and-set: exactly one row, or the change misses. */
  readonly exactlyOne: boolean;
}
