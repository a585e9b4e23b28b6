/**
 * Renders staged bytes as the document that the judge sees.
 *
 * W1 Truncates nothing: a diff is rendered completely, in one or more pieces, or not at all.
 * W2 Redacts secrets before the text is used elsewhere, and after decoding escapes, so that `\u0041KIA…` cannot hide one.
 * W3 Escapes every character that could pass for one of our marks (`visible.ts`).
 */
import { createRedactor } from './redact';
import type { Border, DiffRenderer, SourceLine } from '../contracts/source-tool';
import { cutText } from '../text/cut-text';
import { MAX_RENDERED_LINES } from '../text/render/source-lines';
import { textRenderer } from '../text/render/text';
import { bidi, invisible } from '../text/characters';
import { injectionMarkers } from '../text/injection-markers';
import { makeVisible, VISIBLE_REVISION } from '../text/visible';
import { decodeUtf8 } from '../text/utf8';
import { utf8Length } from '../text/utf8-length';
import type { JsonValue } from '../contracts/canonical-json';
import { canonicalJson } from '../contracts/canonical-json';

/** UTF-16 units of one line. A longer line continues on the next one, so that evidence points close to its subject. */
export const MAX_LINE = 1000;
const DOCUMENT_REVISION = 6;

/** Revisions of all code between bytes and marked lines except the redactor and the tool's own renderer. Part of `logic_hash`. */
export const RENDERER_REVISION = `text@${textRenderer.revision} document@${DOCUMENT_REVISION} visible@${VISIBLE_REVISION} line@${MAX_LINE}/${MAX_RENDERED_LINES}`;

export interface DocumentLine extends SourceLine {
  /** True if it continues the line before, which was longer than MAX_LINE. */
  readonly continues: boolean;
}

/** A diff as the judge sees it. The line marked n is `lines[n - 1]`. */
export interface JudgeDocument {
  readonly lines: readonly DocumentLine[];
  /** Places where the document may be split, ascending, starting with the first line. Computed on demand. */
  readonly borders: () => readonly Border[];
  /** `name = value`, one claim for each entry, in the order of `metadataKeys`. */
  readonly metadata: readonly string[];
  /** The agent's prose; empty unless the plan includes it. */
  readonly prose: readonly string[];
  readonly redactions: Readonly<Record<string, number>>;
  /** Number of redacted texts that may be more than a secret. */
  readonly redactedTexts: number;
  /** Number of characters that hide or reorder text: what `text_bidi` and `text_invisible` find. */
  readonly hiding: number;
  /** Kinds of text that addresses a reviewer, in everything that the judge sees. */
  readonly markers: readonly string[];
  readonly renderer: string;
}

interface DocumentInput {
  readonly raw: Uint8Array;
  readonly metadata: { readonly [key: string]: JsonValue };
  readonly renderer: DiffRenderer;
  /** A larger diff is refused before it is decoded. */
  readonly maxBytes: number;
  readonly metadataKeys: readonly string[];
  /** Null excludes the agent's prose. */
  readonly proseKeys: readonly string[] | null;
}

type DocumentMade =
  | { readonly ok: true; readonly document: JudgeDocument }
  /** `undecodable`: not text. `too_large`: more than the plan allows the judge to see, so a person must answer. */
  | { readonly ok: false; readonly kind: 'undecodable' | 'too_large'; readonly reason: string };

/** UTF-16 units of one metadata member with prose. */
export const MAX_PROSE = 2000;

/** Renders a diff. Refuses invalid UTF-8: with replacement characters the judge would see a different diff. */
export function makeDocument(input: DocumentInput): DocumentMade {
  if (input.raw.length > input.maxBytes) {
    return {
      ok: false,
      kind: 'too_large',
      reason: `it has ${input.raw.length} bytes, and the plan allows at most ${input.maxBytes}`,
    };
  }
  const decoded = decodeUtf8(input.raw);
  if (decoded === null) return { ok: false, kind: 'undecodable', reason: 'the bytes are not valid UTF-8' };
  const rendering = input.renderer.render(decoded);
  if (rendering === null)
    return { ok: false, kind: 'too_large', reason: `it has more than ${MAX_RENDERED_LINES} lines` };
  const redactor = createRedactor();
  let hiding = 0;
  const visible = (text: string): string => {
    const plain = text.replace(BYTE_ORDER_MARK, '$1');
    hiding += bidi(plain).length + invisible(plain).length;
    return makeVisible(text);
  };
  const rendered = rendering.lines.map((line) => line.text).join('\n');
  const texts = visible(redactor.redact(rendered)).split('\n');
  const claims = (keys: readonly string[]): string[] =>
    keys.flatMap((key) =>
      Object.hasOwn(input.metadata, key) ? [`${key} = ${canonicalJson(input.metadata[key])}`] : [],
    );
  const oneLine = (text: string): string => visible(redactor.redact(text)).replaceAll('\n', ' ');
  const claimed = claims(input.metadataKeys);
  const written = claims(input.proseKeys ?? []);
  const metadata = claimed.map(oneLine);
  const prose = written.map((text) => truncateAtEscape(oneLine(text), MAX_PROSE));
  return {
    ok: true,
    document: {
      ...wrapLines(rendering.lines, texts, rendering.borders),
      metadata,
      prose,
      redactions: redactor.counts(),
      redactedTexts: redactor.notOpaque(),
      hiding,
      // Searched before the text is wrapped and escaped, because that divides words.
      markers: injectionMarkers([rendered, ...claimed, ...written].join('\n')),
      renderer: `${input.renderer.name}@${input.renderer.revision}`,
    },
  };
}

/** At the start of a line, where the first line of a file may be, also in a patch. It hides nothing there. */
const BYTE_ORDER_MARK = /^([+ -]?)\ufeff/gm;

function wrapLines(
  lines: readonly SourceLine[],
  texts: readonly string[],
  borders: () => readonly Border[],
): Pick<JudgeDocument, 'lines' | 'borders'> {
  const result: DocumentLine[] = [];
  const startOf: number[] = [];
  lines.forEach((line, i) => {
    startOf.push(result.length);
    let rest = texts[i] ?? '';
    let continues = false;
    do {
      const text = truncateAtEscape(rest, MAX_LINE);
      result.push({ ...line, text, continues });
      rest = rest.slice(text.length);
      continues = true;
    } while (rest !== '');
  });
  const wrappedBorders = (): Border[] =>
    borders().map(({ line, context }) => ({
      line: startOf[line] ?? 0,
      context: context.map((c) => startOf[c] ?? 0),
    }));
  return { lines: result, borders: wrappedBorders };
}

/** Truncates `text` to `max` UTF-16 units, but not inside an escape: a lone bracket could pass for one of our marks. */
function truncateAtEscape(text: string, max: number): string {
  const cut = cutText(text, max);
  const open = cut.length < text.length ? cut.lastIndexOf('\u27e6') : -1;
  return open > cut.lastIndexOf('\u27e7') ? cut.slice(0, open) : cut;
}

/** Most bytes of a mark: two brackets, nonce, number, plus sign, bar and line feed. */
const MARK_BYTES = 3 + 16 + 3 + 6 + 1 + 3 + 1;

/** Bytes of a line in the message, including its mark. A diff of empty lines consists of marks only. */
export function lineBytes(line: DocumentLine): number {
  return utf8Length(line.text) + MARK_BYTES;
}

/** The lines as one text, with wrapped lines joined again. A verified quotation is a substring of it. */
export function quotable(lines: readonly DocumentLine[]): string {
  return lines.map((line, i) => (i === 0 || line.continues ? line.text : `\n${line.text}`)).join('');
}
