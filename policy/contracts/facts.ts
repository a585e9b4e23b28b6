/** A range in the staged text. Lines and columns start at 1; columns count UTF-16 code units of the decoded line. */
export interface Span {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** Why no facts could be extracted. It becomes a finding and never passes. Deterministic: the bounds are bytes, statements and depth, not time. */
export interface FactsRefusal {
  readonly ok: false;
  /** snake_case: empty, too_large, invalid_utf8, nul_byte, syntax_error, too_deep, too_many_statements, duplicate_key, … */
  readonly code: string;
  readonly message: string;
  readonly span: Span | null;
}

/** Name and version of a facts extractor. Part of `logic_hash`. */
export interface FactsParser {
  readonly name: string;
  readonly version: string;
}

/** What the extractor of a source tool read from the bytes. `kind` identifies the extractor, which defines all other members. */
export interface ExtractedFacts {
  readonly ok: true;
  readonly kind: string;
  readonly parser: FactsParser;
}

export type Facts = FactsRefusal | ExtractedFacts;

/** `diff:<diffSha>#L3:C5-L3:C20` */
export function diffEvidence(diffSha: string, span: Span): string {
  return `diff:${diffSha}#${spanText(span)}`;
}

/** The first place of any diff, for a finding about the diff as a whole. */
export const DIFF_START: Span = Object.freeze({ startLine: 1, startColumn: 1, endLine: 1, endColumn: 1 });

/** `L3:C5-L3:C20` */
export function spanText({ startLine, startColumn, endLine, endColumn }: Span): string {
  return `L${startLine}:C${startColumn}-L${endLine}:C${endColumn}`;
}

/** `diff:<diffSha>#/json/pointer`, for JSON diffs. */
export function pointerEvidence(diffSha: string, pointer: string): string {
  return `diff:${diffSha}#${pointer}`;
}

export function metadataEvidence(inputSha: string, pointer: string): string {
  return `metadata:${inputSha}#${pointer}`;
}

export function stagingEvidence(stagingSha: string, pointer: string): string {
  return `staging:${stagingSha}#${pointer}`;
}
