/**
 * The seam between policy and source tools. Policy knows every tool by this interface and none by name: whoever registers
 * a tool brings everything that rules, limits, the judge and the committer need to know about its diffs.
 *
 * A1 Everything here but `staging` is read from the bytes and the metadata alone: pure, and the same on every machine.
 */
import type { DiffInput } from './diff';
import type { ExtractedFacts, Facts, FactsParser, FactsRefusal, Span } from './facts';
import type { Registry } from './registry';
import type { TargetEffects } from './target-effects';

/** A text of the diff for rules that read any text, with the places of its characters in the staged bytes. */
export interface DiffText {
  readonly side: 'added' | 'removed';
  readonly text: string;
  readonly spanOf: (start: number, end: number) => Span;
}

/** How large a change is, for limits over many changes. Null: the diff does not say, which is not the same as 0. */
export interface DiffMeasure {
  /** Statements that write, hunks, operations of a document, resources. */
  readonly operations: number | null;
  readonly deletions: number | null;
  readonly rows: number | null;
  /** What is counted as one place each. Absent: everything in `touched`. */
  readonly places?: readonly (readonly (string | number | null)[])[];
}

/** One thing that a diff changes, and the reference to where the diff says so. */
export interface Touched {
  readonly kind: 'table' | 'path' | 'pointer';
  /** The schema of a table, null where the diff names none; null for everything else. */
  readonly schema: string | null;
  /** The name of a table, or `*` for any; a path from the root of the tree; a JSON pointer. */
  readonly name: string;
  /** For people: safe to print. */
  readonly text: string;
  readonly evidence: string;
}

/** What the bytes say about the caller's claims `affected_rows` and `table_name`. */
export interface ClaimCheck {
  /** How a finding refers to the bytes: "the text also changes …". */
  readonly subject: 'text' | 'diff';
  /** Null where the bytes do not determine the number. */
  readonly rows: { readonly count: number; readonly evidence: readonly string[] } | null;
  /** Every table that the bytes name, in their order. */
  readonly tables: readonly {
    /** Null where the name cannot be read: it agrees with no claim. */
    readonly schema: string | null;
    readonly name: string | null;
    readonly written: boolean;
    readonly text: string;
    readonly evidence: string;
  }[];
}

/** One line as the judge sees it, with its place in the staged bytes. Lines and columns count from 1, columns in UTF-16 units. */
export interface SourceLine {
  readonly text: string;
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** A line at which a diff over the byte budget may be split: a statement, hunk, file or member begins here. */
export interface Border {
  readonly line: number;
  /** Lines repeated at the head of a piece that begins here: the file header above a hunk. Ascending. */
  readonly context: readonly number[];
}

export interface Rendering {
  readonly lines: readonly SourceLine[];
  /** Ascending; the first line is always one. Called only if the diff must be split. */
  readonly borders: () => readonly Border[];
}

/**
 * How a tool's decoded text becomes lines: made from the bytes, never from the agent's own words. Total: what does not
 * parse is rendered as text; null only past MAX_RENDERED_LINES. `revision` is raised whenever the same text would be
 * rendered differently.
 */
export interface DiffRenderer {
  readonly name: string;
  readonly revision: number;
  /** A highlighter's name, such as `sql`, `json`, `diff`. */
  readonly language: string;
  readonly render: (text: string) => Rendering | null;
}

/** What can be read from the diffs of one tool. Every function takes a refusal as well: facts that could not be had. */
export interface DiffReader {
  /** Name and version of what reads the diffs. Part of `logic_hash` of every validator that reads them through the tool. */
  readonly parser: FactsParser;
  /** Bounded by bytes, statements and depth. What cannot be read is a refusal, not a throw. */
  readonly facts: (diff: DiffInput) => Promise<Facts>;
  readonly texts: (facts: Facts, diff: DiffInput) => readonly DiffText[];
  readonly measure: (facts: Facts, diff: DiffInput) => DiffMeasure;
  /** In the order of the diff. Null: the tool does not know, which is not the same as "nothing". */
  readonly touched: (facts: Facts, diff: DiffInput) => readonly Touched[] | null;
  /** Null: there is nothing to compare with. */
  readonly claims: (facts: Facts, diff: DiffInput) => ClaimCheck | null;
  readonly render: DiffRenderer;
}

/** A source tool as `defineSourceTool` makes it. */
export interface SourceTool extends DiffReader {
  /** Dispatch key, such as `SQLDryRun`. */
  readonly sourceTool: string;
  /** `enforced`: our committer performs the effect. `cooperative`: the requester does, on a signed receipt. */
  readonly mode: 'enforced' | 'cooperative';
  /** Loads what touches the target; only the committer calls it. Null for a cooperative tool. */
  readonly staging: (() => Promise<TargetEffects>) | null;
}

/**
 * What a team writes to bring a tool. `facts` and `parser` are required; every other reader has a default: the whole bytes
 * as one text, a measure and places that are not known, no check of claims, the bytes rendered as text.
 * Raise the parser's version whenever the same diff gives other facts, texts, measures, places or claims.
 */
export interface SourceToolDefinition<F extends ExtractedFacts = ExtractedFacts> extends Pick<
  SourceTool,
  'sourceTool' | 'mode' | 'parser' | 'staging'
> {
  readonly facts: (diff: DiffInput) => F | FactsRefusal | Promise<F | FactsRefusal>;
  readonly texts?: (facts: F, diff: DiffInput) => readonly DiffText[];
  readonly measure?: (facts: F, diff: DiffInput) => DiffMeasure;
  readonly touched?: (facts: F, diff: DiffInput) => readonly Touched[] | null;
  readonly claims?: (facts: F, diff: DiffInput) => ClaimCheck | null;
  readonly render?: DiffRenderer;
}

export type SourceToolRegistry = Registry<SourceTool>;
/** For whoever only looks tools up. */
export type SourceTools = Pick<SourceToolRegistry, 'get'>;
