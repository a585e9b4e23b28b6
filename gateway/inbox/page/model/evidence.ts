/** Where an evidence reference points on the page. */
import { tokensOf } from '../../../../policy/text/json-pointer';
import type { ReviewStatus } from '../../../../policy/contracts/status';
import type { ShownChange, ShownLine } from './change-lines';
import { JsonPlaces } from './json-places';

export type Place =
  /** Indexes of shown lines, both inclusive. */
  | { readonly kind: 'lines'; readonly first: number; readonly last: number; readonly label: string }
  | { readonly kind: 'staging'; readonly anchor: string; readonly label: string }
  | { readonly kind: 'claim'; readonly anchor: string; readonly label: string }
  /** The reference points at nothing on this page; it is shown as text. */
  | { readonly kind: 'none'; readonly label: string };

/** What references name, and the claims that they can point at. */
export type Referenced = Pick<ReviewStatus, 'diffSha' | 'inputSha' | 'stagingSha' | 'metadata'>;

export function placeOf(reference: string, review: Referenced, change: ShownChange | null): Place {
  const match = /^(diff|staging|metadata):([0-9a-f]{64})#([^]*)$/.exec(reference);
  const [, source, sha, fragment = ''] = match ?? [];
  if (source === 'diff' && sha === review.diffSha && change !== null && change.lines.length > 0)
    // Evidence that is not found is the whole change: without a place, a confirmation would wait for nothing.
    return rangeOf(fragment, change) ?? whole(change, `the whole change (${fragment} is not in it)`);
  if (source === 'staging' && sha === review.stagingSha)
    return { kind: 'staging', anchor: stagingAnchor(fragment), label: stagingLabel(fragment) };
  if (source === 'metadata' && sha === review.inputSha) return claimPlace(fragment, review.metadata);
  return { kind: 'none', label: reference };
}

/** `/tables/0/deleted` is shown with the table: `dry-run-tables-0`. */
function stagingAnchor(pointer: string): string {
  const [list = '', index = ''] = tokensOf(pointer) ?? [];
  const known = ['tables', 'statements', 'sideEffects', 'uncaptured', 'notCompared'].includes(list);
  if (!known) return 'dry-run';
  return /^\d{1,6}$/.test(index) && list !== 'uncaptured' && list !== 'notCompared'
    ? `dry-run-${list}-${index}`
    : `dry-run-${list}`;
}

function stagingLabel(pointer: string): string {
  const [list = ''] = tokensOf(pointer) ?? [];
  return Object.hasOwn(STAGING_LABELS, list) ? `${STAGING_LABELS[list]} of the dry run` : `the dry run ${pointer}`;
}

const STAGING_LABELS: Readonly<Record<string, string>> = {
  tables: 'the tables',
  statements: 'the statements',
  sideEffects: 'the side effects',
  uncaptured: 'what was not captured',
  notCompared: 'what was not compared',
};

/** Evidence can be that a claim is missing: then there is nothing to look at. The pointer to all claims is the first of them. */
function claimPlace(pointer: string, metadata: Referenced['metadata']): Place {
  const name = pointer === '' ? Object.keys(metadata)[0] : tokensOf(pointer)?.[0];
  const label = pointer === '' ? 'the claims' : `the claim ${pointer}`;
  return name !== undefined && Object.hasOwn(metadata, name)
    ? { kind: 'claim', anchor: claimAnchor(name), label }
    : { kind: 'none', label: `${label}, which was not made` };
}

/** Names of claims are the requester's words, so an id of the page never contains one unchanged. */
export function claimAnchor(name: string): string {
  return `claim-${[...new TextEncoder().encode(name)].map((byte) => byte.toString(16)).join('')}`;
}

function rangeOf(fragment: string, change: ShownChange): Place | null {
  const { lines, text, language } = change;
  if (fragment === '') return whole(change, 'the whole change');
  const span = /^L(\d{1,7})(?::C(\d{1,7})-L(\d{1,7}):C(\d{1,7}))?$/.exec(fragment);
  if (span !== null) {
    const [first = 0, column = 1, last = first, end = Infinity] = span.slice(1).map(numberOrUndefined);
    // Columns count characters, which bytes that are not UTF-8 do not have.
    const [from, to] = language === 'bytes' ? [1, Infinity] : [column, end];
    return linesBetween(
      lines,
      { line: first, column: from },
      { line: last, column: to },
      spanLabel(first, last, language),
    );
  }
  if (!fragment.startsWith('/') || text === null) return null;
  const { places, positionAt } = documentOf(change, text);
  const range = places.of(fragment);
  if (range === null) return null;
  return linesBetween(lines, positionAt(range.start), positionAt(range.end), fragment);
}

interface IndexedText {
  readonly places: JsonPlaces;
  readonly positionAt: (offset: number) => Position;
}

/** What was read of a text for one reference serves the others. */
const documents = new WeakMap<ShownChange, IndexedText>();

function documentOf(change: ShownChange, text: string): IndexedText {
  const known = documents.get(change);
  if (known !== undefined) return known;
  const starts = [0];
  for (let feed = text.indexOf('\n'); feed !== -1; feed = text.indexOf('\n', feed + 1)) starts.push(feed + 1);
  const positionAt = (offset: number): Position => {
    const line = countWhile(starts, (start) => start <= offset);
    return { line, column: offset - (starts[line - 1] ?? 0) + 1 };
  };
  const made = { places: new JsonPlaces(text), positionAt };
  documents.set(change, made);
  return made;
}

function whole({ lines }: ShownChange, label: string): Place {
  return { kind: 'lines', first: 0, last: lines.length - 1, label };
}

function numberOrUndefined(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits);
}

/** The shown lines of a patch are also numbered by the old and the new file, and those of bytes are not lines of the text. */
function spanLabel(first: number, last: number, language: ShownChange['language']): string {
  const lines = first === last ? `line ${first}` : `lines ${first} to ${last}`;
  if (language === 'bytes') return `${lines} of the text`;
  return language === 'patch' ? `${lines} of the patch` : lines;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** The shown lines that overlap the range; what follows a line, such as its line feed, is in it. An empty range is the line that it is in. */
function linesBetween(lines: readonly ShownLine[], start: Position, end: Position, label: string): Place | null {
  const first = Math.max(0, countWhile(lines, (line) => !isBefore(start, beginOf(line))) - 1);
  const begun = lines[first];
  if (begun === undefined || isBefore(end, beginOf(begun))) return null;
  if (first === lines.length - 1 && start.line > begun.endLine) return null;
  const last = Math.max(first, countWhile(lines, (line) => isBefore(beginOf(line), end)) - 1);
  return { kind: 'lines', first, last, label };
}

/** How many of the first items hold, of items in an order in which none holds after one that does not. */
function countWhile<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (holds(items[middle] as T)) from = middle + 1;
    else to = middle;
  }
  return from;
}

function beginOf({ startLine: line, startColumn: column }: ShownLine): Position {
  return { line, column };
}

function isBefore(a: Position, b: Position): boolean {
  return a.line < b.line || (a.line === b.line && a.column < b.column);
}

const BLOCK_LINES = 10;

const partsByPlace = new WeakMap<Place, readonly string[]>();

/** Parts of a place that can each be on screen: at most ten lines, or one entry of the dry run or of the claims. */
export function blocksOf(place: Place): readonly string[] {
  const known = partsByPlace.get(place) ?? partsOf(place);
  partsByPlace.set(place, known);
  return known;
}

function partsOf(place: Place): readonly string[] {
  switch (place.kind) {
    case 'lines': {
      const parts: string[] = [];
      for (let first = place.first; first <= place.last; first += BLOCK_LINES)
        parts.push(lineBlock(first, Math.min(place.last, first + BLOCK_LINES - 1)));
      return parts;
    }
    case 'staging':
    case 'claim':
      return [place.anchor];
    case 'none':
      return [];
    default:
      return place satisfies never;
  }
}

function lineBlock(first: number, last: number): string {
  return `lines-${first}-${last}`;
}

/** The shown line in the middle of a block of lines; null for another block. */
export function middleLine(block: string): number | null {
  const match = /^lines-(\d+)-(\d+)$/.exec(block);
  return match === null ? null : Math.floor((Number(match[1]) + Number(match[2])) / 2);
}
