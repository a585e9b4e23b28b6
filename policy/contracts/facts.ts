import type { JsonObject } from './canonical-json';

/** A place in the staged bytes: lines and columns count from 1; a column counts UTF-16 units of the decoded line. */
export interface Span {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** Why no facts could be had from the bytes. A finding, never a pass. Deterministic: bounds are bytes, statements and depth, never time. */
export interface FactsRefusal {
  readonly ok: false;
  /** snake_case: empty, too_large, invalid_utf8, nul_byte, syntax_error, too_deep, too_many_statements, duplicate_key, … */
  readonly code: string;
  readonly message: string;
  readonly span: Span | null;
}

/** Name and version of what reads facts. */
export interface FactsParser {
  readonly name: string;
  readonly version: string;
}

/** What one source tool's extractor read from the bytes. `kind` tells the tools apart; members beyond it are the extractor's. */
export interface ExtractedFacts {
  readonly ok: true;
  readonly kind: string;
  /** Parser's name and version, which go into `logic_hash`. */
  readonly parser: FactsParser;
}

export type Facts = FactsRefusal | ExtractedFacts;

/** `diff:<diffSha>#L3:C5-L3:C20` (records.md §3). */
export function diffEvidence(diffSha: string, span: Span): string {
  return `diff:${diffSha}#${spanText(span)}`;
}

/** `L3:C5-L3:C20` */
export function spanText({ startLine, startColumn, endLine, endColumn }: Span): string {
  return `L${startLine}:C${startColumn}-L${endLine}:C${endColumn}`;
}

/** `diff:<diffSha>#/json/pointer` for JSON diffs. */
export function pointerEvidence(diffSha: string, pointer: string): string {
  return `diff:${diffSha}#${pointer}`;
}

export function metadataEvidence(inputSha: string, pointer: string): string {
  return `metadata:${inputSha}#${pointer}`;
}

export function stagingEvidence(stagingSha: string, pointer: string): string {
  return `staging:${stagingSha}#${pointer}`;
}

export type Details = JsonObject;
