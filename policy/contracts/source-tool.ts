/**
 * The interface between policy and source tools. Policy uses tools only through this interface and contains no tool names. A
 * registered tool provides everything that rules, limits, the judge and the committer need to know about its diffs.
 *
 * A1 Everything except `staging` is a pure function of bytes and metadata, with the same result on every machine.
 */
import type { z } from 'zod';
import type { JsonValue } from './canonical-json';
import type { DiffInput } from './diff';
import type { EffectMetadata } from './effect-metadata';
import type { ExtractedFacts, Facts, FactsParser, FactsRefusal, Span } from './facts';
import type { Registry } from './registry';
import type { StagingRecord } from './staging-record';
import type { TargetEffects } from './target-effects';

/** A line of a file that a diff changes, counted from 1 in the file and not in the diff; null for the file as a whole. */
export interface FilePlace {
  readonly path: string;
  readonly line: number | null;
}

/** A text in the diff, for rules that read any text. `spanOf` maps positions in `text` to the staged bytes. */
export interface DiffText {
  readonly side: 'added' | 'removed';
  readonly text: string;
  /** The file that a position is in, for diffs of files. */
  readonly fileOf?: (start: number) => FilePlace;
  readonly spanOf: (start: number, end: number) => Span;
}

/** Size of a change, for limits over several changes. Null means unknown, not 0. */
export interface DiffMeasure {
  /** Number of writing statements, hunks, operations of a document, or resources. */
  readonly operations: number | null;
  /** Rows that deletes and truncates remove, and dropped objects, files, members or resources. */
  readonly deletions: number | null;
  readonly rows: number | null;
  /** The distinct places that the change counts for. If absent, everything in `touched`. */
  readonly places?: readonly (readonly (string | number | null)[])[];
}

/** One object that a diff changes, with an evidence reference into the diff. */
export interface Touched {
  readonly kind: 'table' | 'path' | 'pointer';
  /** The schema of a table; null if the diff names none, and for all other kinds. */
  readonly schema: string | null;
  /** The name of a table, or `*` for any; a path from the repository root; or a JSON pointer. */
  readonly name: string;
  /** Description for people. Safe to display. */
  readonly text: string;
  readonly evidence: string;
}

/** What the bytes say about the caller's claims `affected_rows` and `table_name`. */
export interface ClaimCheck {
  /** How a finding refers to the bytes: "the text also changes …". */
  readonly subject: 'text' | 'diff';
  /** Null if the bytes do not determine the number. */
  readonly rows: { readonly count: number; readonly evidence: readonly string[] } | null;
  /** All tables that the bytes name, in order. */
  readonly tables: readonly {
    /** Null if the name has no schema, or cannot be parsed. A name that cannot be parsed matches no claim. */
    readonly schema: string | null;
    readonly name: string | null;
    readonly written: boolean;
    readonly text: string;
    readonly evidence: string;
  }[];
}

/** One line as shown to the judge, with its range in the staged text. */
export interface SourceLine extends Span {
  readonly text: string;
}

/** A line at which a diff above the byte budget may be split: the start of a statement, hunk, file or member. */
export interface Border {
  readonly line: number;
  /** Lines repeated at the start of a piece that begins here, such as the file header of a hunk. Ascending. */
  readonly context: readonly number[];
}

export interface Rendering {
  readonly lines: readonly SourceLine[];
  /** Ascending; includes the first line. Called only if the diff must be split. */
  readonly borders: () => readonly Border[];
}

/**
 * Converts the decoded bytes of a diff to lines. Never uses metadata, which the agent wrote. Text that does not parse is
 * rendered as plain text; null only above MAX_RENDERED_LINES. Raise `revision` whenever the output changes for any input.
 */
export interface DiffRenderer {
  readonly name: string;
  readonly revision: number;
  /** Language name for syntax highlighting, such as `sql`, `json`, `diff`. */
  readonly language: string;
  readonly render: (text: string) => Rendering | null;
}

/** Functions that read the diffs of one tool. Each must also accept a refusal instead of facts. */
export interface DiffReader {
  /** Part of `logic_hash` of every validator that reads diffs through the tool. */
  readonly parser: FactsParser;
  /** Must be bounded by bytes, statements and depth. Returns a refusal for input that it cannot read; does not throw. */
  readonly facts: (diff: DiffInput) => Promise<Facts>;
  /**
   * What the bytes say, without comments, white space and other spellings of the same: a change that was rejected is recognized by
   * it. Null if the tool cannot tell; then the bytes are compared.
   */
  readonly normalized: (diff: DiffInput) => Promise<JsonValue>;
  readonly texts: (facts: Facts, diff: DiffInput) => readonly DiffText[];
  readonly measure: (facts: Facts, diff: DiffInput) => DiffMeasure;
  /** In the order of the diff. Null means unknown; an empty array means that nothing is changed. */
  readonly touched: (facts: Facts, diff: DiffInput) => readonly Touched[] | null;
  /** Null if there is nothing to compare the claims with. */
  readonly claims: (facts: Facts, diff: DiffInput) => ClaimCheck | null;
  /**
   * One line that says what the change does, from its bytes and, if there is one, the dry run: `UPDATE invoices: 40 rows`. Bounded, and
   * with control characters escaped. Never from metadata, which the agent wrote. No rule reads it.
   */
  readonly title: (facts: Facts, diff: DiffInput, staging: StagingRecord | null) => string;
  readonly render: DiffRenderer;
}

/** A source tool, created by `defineSourceTool`. */
export interface SourceTool extends DiffReader {
  /** Dispatch key, such as `SQLDryRun`. */
  readonly sourceTool: string;
  /** `enforced`: the committer performs the effect. `cooperative`: the requester performs it after receiving a signed receipt. */
  readonly mode: 'enforced' | 'cooperative';
  /** Loads the code that accesses the target. Only the committer calls it. Null for a cooperative tool. */
  readonly staging: (() => Promise<TargetEffects>) | null;
  readonly effectMetadata: EffectMetadata;
  /** The members of its facts, for the check of conditions. Absent: not checked. */
  readonly factsMembers?: Readonly<Record<string, true>>;
  /** Settings of the dry run that a bundle may write for a target. Absent: only the committer checks them. */
  readonly stagingSettings?: z.ZodType;
}

/** Every member of the facts by name, besides those that all facts have. */
export type FactsMembers<F extends ExtractedFacts> = Readonly<
  Record<Exclude<keyof F & string, keyof ExtractedFacts>, true>
>;

/**
 * Definition of a custom source tool. The optional functions have defaults: all bytes are one text, measure and touched
 * objects are unknown, claims are not checked, the title is the number of bytes, and the bytes are rendered as plain text.
 * Raise the parser's version whenever facts, texts, measure, touched objects or claims change for any diff.
 */
export interface SourceToolDefinition<F extends ExtractedFacts = ExtractedFacts> extends Pick<
  SourceTool,
  'sourceTool' | 'mode' | 'parser' | 'staging'
> {
  readonly facts: (diff: DiffInput) => F | FactsRefusal | Promise<F | FactsRefusal>;
  readonly normalized?: (diff: DiffInput) => JsonValue | Promise<JsonValue>;
  readonly texts?: (facts: F, diff: DiffInput) => readonly DiffText[];
  readonly measure?: (facts: F, diff: DiffInput) => DiffMeasure;
  readonly touched?: (facts: F, diff: DiffInput) => readonly Touched[] | null;
  readonly claims?: (facts: F, diff: DiffInput) => ClaimCheck | null;
  /** Default: the tool and the number of bytes. A claimed dry run is not passed. */
  readonly title?: (facts: F, diff: DiffInput, staging: StagingRecord | null) => string;
  readonly render?: DiffRenderer;
  /** Default: no metadata becomes part of the effect. */
  readonly effectMetadata?: EffectMetadata;
  /** With it, `policy check` refuses a condition that reads a fact which the tool does not have. */
  readonly factsMembers?: FactsMembers<F>;
  /** With it, `policy check` refuses `staging` settings of a target which the committer would refuse. */
  readonly stagingSettings?: z.ZodType;
}

export type SourceToolRegistry = Registry<SourceTool>;
/** Read access by name. */
export type SourceTools = Pick<SourceToolRegistry, 'get'>;
