/**
 * From staged bytes to what the judge may see.
 *
 * W1 Nothing is clipped: a diff is rendered whole, in pieces, or not at all.
 * W2 Secrets are taken out before anything else can see them, and after escapes were decoded, so that `\u0041KIA…` hides none.
 * W3 No character of the diff can be taken for one of our marks (`visible.ts`).
 */
import { createRedactor } from './redact';
import { MAX_RENDERED_LINES, type Border, type DiffRenderer, type SourceLine } from '../text/render/source-lines';
import { cutText } from '../text/cut-text';
import { RENDERERS_REVISION } from './render/renderers';
import { makeVisible, VISIBLE_REVISION } from '../text/visible';
import { utf8Length } from './objects-in-text';
import type { JsonValue } from '../contracts/canonical-json';
import { canonicalJson } from '../contracts/canonical-json';

/** Longer lines go on in a second one, so that evidence points near what it means. */
export const MAX_LINE = 1000;
const DOCUMENT_REVISION = 2;

/** Everything between bytes and marked lines except the redactor. Part of `logic_hash`. */
export const RENDERER_REVISION = `${RENDERERS_REVISION} document@${DOCUMENT_REVISION} visible@${VISIBLE_REVISION} line@${MAX_LINE}/${MAX_RENDERED_LINES}`;

export interface DocumentLine extends Omit<SourceLine, 'text'> {
  readonly text: string;
  /** Goes on from the line before, which was too long. */
  readonly continues: boolean;
}

/** A diff as the judge sees it. Line n of the marks is `lines[n - 1]`. */
export interface JudgeDocument {
  readonly lines: readonly DocumentLine[];
  /** Ascending; the first line is always one. Asked only where the document must be split. */
  readonly borders: () => readonly Border[];
  /** `name = value`, one claim a line, in the order of the allow-list. */
  readonly metadata: readonly string[];
  /** The agent's own words, where the plan lets them in. */
  readonly prose: readonly string[];
  readonly redactions: Readonly<Record<string, number>>;
  /** Characters that hide or reorder text. */
  readonly hiding: number;
  readonly renderer: string;
}

export interface DocumentInput {
  readonly raw: Uint8Array;
  readonly metadata: { readonly [key: string]: JsonValue };
  readonly renderer: DiffRenderer;
  /** More is refused before any work is done. */
  readonly maxBytes: number;
  readonly metadataKeys: readonly string[];
  /** Null: agent prose stays out. */
  readonly proseKeys: readonly string[] | null;
}

export type DocumentMade =
  | { readonly ok: true; readonly document: JudgeDocument }
  /** `undecodable`: no text, so no judge reads it. `too_large`: more than the plan lets a judge see; a person must look. */
  | { readonly ok: false; readonly kind: 'undecodable' | 'too_large'; readonly reason: string };

export const MAX_PROSE = 2000;

/** Refuses what is not UTF-8: a judge that sees replacement characters sees another diff. */
export function makeDocument(input: DocumentInput): DocumentMade {
  if (input.raw.length > input.maxBytes) {
    return {
      ok: false,
      kind: 'too_large',
      reason: `it has ${input.raw.length} bytes, and the plan lets the judge see ${input.maxBytes}`,
    };
  }
  let decoded: string;
  try {
    decoded = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(input.raw);
  } catch {
    return { ok: false, kind: 'undecodable', reason: 'the bytes are not UTF-8' };
  }
  const rendering = input.renderer.render(decoded);
  if (rendering === null)
    return { ok: false, kind: 'too_large', reason: `it has more than ${MAX_RENDERED_LINES} lines` };
  const redactor = createRedactor();
  let hiding = 0;
  const visible = (text: string): string => {
    const shown = makeVisible(text);
    hiding += shown.hiding;
    return shown.text;
  };
  const texts = visible(redactor.redact(rendering.lines.map((line) => line.text).join('\n'))).split('\n');
  const claims = (keys: readonly string[]): string[] =>
    keys.flatMap((key) =>
      Object.hasOwn(input.metadata, key) ? [`${key} = ${canonicalJson(input.metadata[key])}`] : [],
    );
  const oneLine = (text: string): string => visible(redactor.redact(text)).replaceAll('\n', ' ');
  const metadata = claims(input.metadataKeys).map(oneLine);
  const prose = claims(input.proseKeys ?? []).map((text) => cutWhole(oneLine(text), MAX_PROSE));
  return {
    ok: true,
    document: {
      ...wrapped(rendering.lines, texts, rendering.borders),
      metadata,
      prose,
      redactions: redactor.counts(),
      hiding,
      renderer: `${input.renderer.name}@${input.renderer.revision}`,
    },
  };
}

function wrapped(
  lines: readonly SourceLine[],
  texts: readonly string[],
  borders: () => readonly Border[],
): Pick<JudgeDocument, 'lines' | 'borders'> {
  const result: DocumentLine[] = [];
  const placeOf: number[] = [];
  lines.forEach((line, i) => {
    placeOf.push(result.length);
    let rest = texts[i] ?? '';
    let continues = false;
    do {
      const text = cutWhole(rest, MAX_LINE);
      result.push({
        text,
        startLine: line.startLine,
        startColumn: line.startColumn,
        endLine: line.endLine,
        endColumn: line.endColumn,
        continues,
      });
      rest = rest.slice(text.length);
      continues = true;
    } while (rest !== '');
  });
  const moved = (): Border[] =>
    borders().map(({ line, context }) => ({
      line: placeOf[line] ?? 0,
      context: context.map((c) => placeOf[c] ?? 0),
    }));
  return { lines: result, borders: moved };
}

/** Never inside an escape: half of one is a bracket by itself, which only our marks may have. */
function cutWhole(text: string, max: number): string {
  const cut = cutText(text, max);
  const open = cut.length < text.length ? cut.lastIndexOf('\u27e6') : -1;
  return open > cut.lastIndexOf('\u27e7') ? cut.slice(0, open) : cut;
}

/** What a mark takes at most: two brackets, nonce, number, a plus, a bar and the line feed. */
const MARK_BYTES = 3 + 16 + 3 + 6 + 1 + 3 + 1;

/** Bytes that a line takes in the message, with its mark: a diff of empty lines is all marks. */
export function lineBytes(line: DocumentLine): number {
  return utf8Length(line.text) + MARK_BYTES;
}

/** The lines as one text, over-long ones whole again: what a quotation must be a part of, word for word. */
export function quotable(lines: readonly DocumentLine[]): string {
  return lines.map((line, i) => (i === 0 || line.continues ? line.text : `\n${line.text}`)).join('');
}
