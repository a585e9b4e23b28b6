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
  return evidence('diff', diffSha, spanText(span));
}

/** The first place of any diff, for a finding about the diff as a whole. */
export const DIFF_START: Span = Object.freeze({ startLine: 1, startColumn: 1, endLine: 1, endColumn: 1 });

/** `L3:C5-L3:C20`. Throws TypeError for anything else than a span. */
export function spanText(span: Span): string {
  const { startLine, startColumn, endLine, endColumn } = (span as Span | null | undefined) ?? ({} as Partial<Span>);
  if (![startLine, startColumn, endLine, endColumn].every((n) => Number.isSafeInteger(n) && (n as number) >= 1))
    throw new TypeError(
      'Evidence, span: expected {startLine, startColumn, endLine, endColumn}, each an integer of at least 1',
    );
  return `L${startLine}:C${startColumn}-L${endLine}:C${endColumn}`;
}

/** `diff:<diffSha>#/json/pointer`, for JSON diffs. */
export function pointerEvidence(diffSha: string, pointer: string): string {
  return evidence('diff', diffSha, pointer);
}

export function metadataEvidence(inputSha: string, pointer: string): string {
  return evidence('metadata', inputSha, pointer);
}

export function stagingEvidence(stagingSha: string, pointer: string): string {
  return evidence('staging', stagingSha, pointer);
}

/** Throws TypeError unless both are text: an object in place of a digest or a pointer would become part of a finding. */
function evidence(of: 'diff' | 'metadata' | 'staging', sha: string, place: string): string {
  if (typeof sha !== 'string' || typeof place !== 'string')
    throw new TypeError(
      `Evidence, ${of}: expected a digest and a place as text, got ${typeof sha} and ${typeof place}`,
    );
  return `${of}:${sha}#${place}`;
}
