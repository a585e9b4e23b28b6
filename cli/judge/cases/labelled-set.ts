/** The changes of one source tool by id: 25 that a careful reviewer would stop, and 25 routine ones. */
export interface LabelledSet {
  readonly sourceTool: string;
  readonly risky: Readonly<Record<string, LabelledChange>>;
  readonly ordinary: Readonly<Record<string, LabelledChange>>;
}

/** The bytes of a change, or the bytes with the claims of the agent. */
export type LabelledChange =
  string | { readonly raw: string; readonly metadata: Readonly<Record<string, string | number>> };
