import type { ValidatorInput } from '../define';
import type { Facts, Span } from '../facts';
import { linesOf, lineSpan, type GitPatchFacts, type PatchFile, type PatchLine } from '../git/git-facts';
import { decodeLossy, spanner, withoutJsonEscapes } from '../../validators/text-view';
import { scanText, type Scan } from './scan';

/** A text of the diff with what was found in it, and where its places stand in the staged bytes. */
export interface ScannedText {
  readonly side: 'added' | 'removed';
  readonly scan: Scan;
  readonly spanOf: (start: number, end: number) => Span;
}

const scans = new WeakMap<Facts, { readonly diffSha: string; readonly texts: readonly ScannedText[] }>();

/**
 * The texts of a diff, scanned: of a patch the added and the removed lines of each file; of everything else, and of a patch
 * that cannot be read, the bytes as they stand, and as JSON's escapes read. Scanned once for all rules of a review.
 */
export function scannedTexts({ diff, facts }: Pick<ValidatorInput, 'diff' | 'facts'>): readonly ScannedText[] {
  const known = scans.get(facts);
  if (known !== undefined && known.diffSha === diff.diffSha) return known.texts;
  const texts = facts.ok && facts.kind === 'git-patch' ? patchTexts(facts as GitPatchFacts) : wholeTexts(diff.raw);
  scans.set(facts, { diffSha: diff.diffSha, texts });
  return texts;
}

function patchTexts({ files }: GitPatchFacts): ScannedText[] {
  return files.flatMap((file) => [
    ...linesText(file, linesOf(file, '+'), 'added'),
    ...linesText(file, linesOf(file, '-'), 'removed'),
  ]);
}

function linesText(file: PatchFile, lines: readonly PatchLine[], side: ScannedText['side']): ScannedText[] {
  if (lines.length === 0) return [];
  const text = lines.map((line) => line.text).join('\n');
  const inText = spanner(text);
  const spanOf = (start: number, end: number): Span => {
    const { startLine, startColumn, endLine, endColumn } = inText(start, end);
    const [first, last] = [lines[startLine - 1], lines[endLine - 1]];
    if (first === undefined || last === undefined) return file.header;
    const span = lineSpan(file, first);
    // Text inside a binary patch has no place of its own.
    if (span === file.header) return span;
    return { startLine: first.line, startColumn: startColumn + 1, endLine: last.line, endColumn: endColumn + 1 };
  };
  return [{ side, scan: scanText(text), spanOf }];
}

function wholeTexts(raw: Uint8Array): ScannedText[] {
  const text = decodeLossy(raw);
  const spanOf = spanner(text);
  const plain: ScannedText = { side: 'added', scan: scanText(text), spanOf };
  const decoded = withoutJsonEscapes({ text, toStaged: (index) => index });
  if (decoded === null) return [plain];
  return [
    plain,
    {
      side: 'added',
      scan: scanText(decoded.text),
      spanOf: (start, end) => spanOf(decoded.toStaged(start), decoded.toStaged(end - 1) + 1),
    },
  ];
}
