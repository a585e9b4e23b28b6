/** What rules find, and the finding that results from it. */
import { metadataEvidence, pointerEvidence, spanText, type Span } from '../contracts/facts';
import { MAX_EVIDENCE_REFS, MAX_REASON_LENGTH } from '../contracts/limits';
import type { DiffText, FilePlace } from '../contracts/source-tool';
import { clip } from '../text/cut-text';
import { shown } from '../text/shown-name';
import type { RuleOutcome, ValidatorInput } from './define';

/** A place with its own path, such as a statement inside a function body. */
interface Located {
  readonly span: Span;
  readonly path: string;
}

/** One place where a rule fires: a span of the staged bytes or a JSON pointer into them, with a description. */
export interface Hit {
  readonly at: Span | string | Located;
  /** The document that a pointer refers to. Default: the diff. */
  readonly of?: 'diff' | 'metadata';
  /** The place in a file, for diffs of files. Shown instead of the line of the diff. */
  readonly file?: FilePlace;
  /** Description that is safe to print: names go through `shown`, and a value that may be a secret never appears. */
  readonly what: string;
}

/** Something found in a text, as offsets. */
export interface Found {
  readonly start: number;
  readonly end: number;
  readonly what: string;
  /** Things of different kinds at one place are different hits. */
  readonly kind?: string;
}

/** Hits in the added texts of a diff, each place once: a tool may give the same bytes in several texts. */
export function hitsInAdded<Text extends DiffText>(
  texts: readonly Text[],
  find: (text: Text) => readonly Found[],
): Hit[] {
  const seen = new Set<string>();
  return texts
    .filter(({ side }) => side === 'added')
    .flatMap((text) =>
      find(text).flatMap(({ start, end, what, kind = '' }): Hit[] => {
        const at = text.spanOf(start, end);
        const key = `${kind}:${at.startLine}:${at.startColumn}`;
        if (seen.has(key)) return [];
        seen.add(key);
        const file = text.fileOf?.(start);
        return [{ at, what, ...(file === undefined ? {} : { file }) }];
      }),
    );
}

const NOT_FIRED: RuleOutcome = Object.freeze({ fires: false });
const MAX_HITS_IN_REASON = 3;
const MAX_HITS_IN_DETAILS = 20;

/** The outcome for `hits`: not fired without hits, else one finding with each distinct place as evidence, up to the limit. */
export function outcomeOf(
  input: Pick<ValidatorInput, 'diff' | 'inputSha'>,
  hits: readonly Hit[],
  reasonCode: string,
  status: 'WARN' | 'BLOCK',
  advice?: readonly string[],
): RuleOutcome {
  if (hits.length === 0) return NOT_FIRED;
  const named = hits.slice(0, MAX_HITS_IN_REASON).map((hit) => `${hit.what} (${placeText(hit)})`);
  const more = hits.length - named.length;
  const places = [...new Set(hits.map(placeKey))];
  const evidence = places.slice(0, MAX_EVIDENCE_REFS).map((place) => evidenceOf(input, place));
  const shownPlaces = hits.slice(0, MAX_HITS_IN_DETAILS).map(placeDetails);
  return {
    fires: true,
    status,
    reason: clip(`${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`, MAX_REASON_LENGTH),
    reasonCode,
    evidence,
    details:
      places.length > evidence.length ? { places: shownPlaces, evidenceTotal: places.length } : { places: shownPlaces },
    ...(advice === undefined ? {} : { recommendedActions: advice }),
  };
}

const MAX_POINTER = 900;

/** Place of a hit without the digest. Of thousands of hits only the first few become complete references. */
function placeKey({ at, of }: Hit): string {
  if (typeof at === 'string') return `${of === 'metadata' ? METADATA : ''}${shortPointer(at)}`;
  return spanText('span' in at ? at.span : at);
}

/** Marks a pointer into the metadata. Not ambiguous: a JSON pointer is empty or starts with "/". */
const METADATA = 'metadata';

function evidenceOf({ diff, inputSha }: Pick<ValidatorInput, 'diff' | 'inputSha'>, place: string): string {
  return place.startsWith(METADATA)
    ? metadataEvidence(inputSha, place.slice(METADATA.length))
    : pointerEvidence(diff.diffSha, place);
}

/** Truncates a pointer that is too long for a reference at a token boundary, so that it resolves to a parent of the place. */
function shortPointer(pointer: string): string {
  if (pointer.length <= MAX_POINTER) return pointer;
  return pointer.slice(0, pointer.lastIndexOf('/', MAX_POINTER));
}

function placeText({ at, file }: Hit): string {
  if (file !== undefined) return file.line === null ? shown(file.path) : `${shown(file.path)} line ${file.line}`;
  if (typeof at === 'string') return at === '' ? 'the whole document' : clip(printable(at), 200);
  return 'span' in at ? at.path : `line ${at.startLine}`;
}

function placeDetails(hit: Hit): { readonly [key: string]: string | number } {
  const { at } = hit;
  const what = clip(hit.what, 500);
  if (typeof at === 'string') return { what, pointer: clip(printable(at), 500) };
  if ('span' in at) return { what, path: clip(at.path, 500), line: at.span.startLine, column: at.span.startColumn };
  const inDiff = { what, line: at.startLine, column: at.startColumn };
  if (hit.file === undefined) return inDiff;
  const file = clip(shown(hit.file.path), 500);
  return hit.file.line === null ? { ...inDiff, file } : { ...inDiff, file, fileLine: hit.file.line };
}

/** Escapes all but printable ASCII: a pointer consists of keys of the diff, which are untrusted. */
function printable(pointer: string): string {
  let out = '';
  for (const character of pointer) {
    const code = character.codePointAt(0) as number;
    out += code > 0x20 && code < 0x7f ? character : code === 0x20 ? ' ' : `\\u{${code.toString(16)}}`;
  }
  return out;
}
