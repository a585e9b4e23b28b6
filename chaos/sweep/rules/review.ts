export interface LedgerLine {
  readonly n: number;
  readonly prev: string;
  readonly hash: string;
  readonly kind: string;
  readonly at: string;
  readonly actor: string;
  /** The stored text; the hash covers exactly this text. */
  readonly body: string;
}

export interface Observed {
  readonly changeId: string;
  /** How often the change was applied to its row. */
  readonly effects: number;
  /** `effect` is null if the marker has none. HTTP targets have no markers. */
  readonly marker: { readonly effect: Body | null } | null | 'not kept';
  /** The latest time at which the target can have been written; null if it was not written. */
  readonly writtenAt: Date | null;
  readonly ledger: readonly LedgerLine[];
  /** Null if the committer was called without a workflow. */
  readonly workflow: {
    readonly status: string;
    readonly outcome: Body | null;
    /** Resets in the history of the last run. */
    readonly resets: number;
  } | null;
}

export type Body = Readonly<Record<string, unknown>>;

export interface Line extends LedgerLine {
  readonly parsed: Body;
}

/** What was observed, with what most rules need of it. */
export interface Review extends Observed {
  readonly lines: readonly Line[];
  /** The rows that the settlement is based on. */
  readonly beforeSettlement: readonly Line[];
  /** Public key of the committer, 64 hex digits. */
  readonly committer: string;
}

/** The broken rules, as `K2: …`; empty if there are none. */
export type Rule = (review: Review) => readonly string[];

const SETTLEMENTS: readonly string[] = ['intent', 'decided'];

export function reviewOf(observed: Observed, committer: string): Review {
  const lines = observed.ledger.map((line): Line => ({ ...line, parsed: JSON.parse(line.body) as Body }));
  const settled = lines.findIndex(({ kind }) => SETTLEMENTS.includes(kind));
  return { ...observed, lines, beforeSettlement: settled === -1 ? lines : lines.slice(0, settled), committer };
}

export const of = (lines: readonly Line[], ...kinds: readonly string[]): Line[] =>
  lines.filter((line) => kinds.includes(line.kind));

/** Whether target or ledger say that the change was committed. */
export const isCommitted = ({ effects, lines }: Review): boolean =>
  effects > 0 || of(lines, 'closed').some(({ parsed }) => parsed['state'] === 'COMMITTED');

/** The predicate of a statement in an envelope. The signature is not checked. */
export function predicateOf(envelope: unknown): Body {
  const { payload } = envelope as { readonly payload: string };
  return (JSON.parse(Buffer.from(payload, 'base64').toString('utf8')) as { readonly predicate: Body }).predicate;
}

export function sameJson(a: unknown, b: unknown): boolean {
  return sorted(a) === sorted(b);
}

function sorted(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, v: unknown) =>
    v !== null && typeof v === 'object' && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([x], [y]) => (x < y ? -1 : 1)))
      : v,
  );
}
