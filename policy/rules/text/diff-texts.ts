import { decodeLossy, spanner, withoutJsonEscapes } from '../../text/text-view';
import type { ValidatorInput } from '../define';
import type { Facts, Span } from '../../contracts/facts';
import {
  linesOf,
  lineSpan,
  type GitPatchFacts,
  type PatchFile,
  type PatchLine,
} from '../../../source-tools/git/facts/git-facts';

/** A text of the diff, and where its places stand in the staged bytes. */
export interface DiffText {
  readonly side: 'added' | 'removed';
  readonly text: string;
  readonly spanOf: (start: number, end: number) => Span;
}

/**
 * The texts of a diff: of a patch the added and the removed lines of each file; of everything else, and of a patch that
 * cannot be read, the bytes as they stand, and as JSON's escapes read.
 */
export function textsOf({ diff, facts }: Pick<ValidatorInput, 'diff' | 'facts'>): readonly DiffText[] {
  const known = textsBefore.get(facts);
  if (known !== undefined && known.diffSha === diff.diffSha) return known.texts;
  const isPatch = facts.ok && facts.kind === 'git-patch';
  const texts = isPatch ? patchTexts(facts as GitPatchFacts) : wholeTexts(diff.raw);
  textsBefore.set(facts, { diffSha: diff.diffSha, texts });
  return texts;
}

/** Made once for all rules of a review. */
const textsBefore = new WeakMap<Facts, { readonly diffSha: string; readonly texts: readonly DiffText[] }>();

function patchTexts({ files }: GitPatchFacts): DiffText[] {
  return files.flatMap((file) => [
    ...linesText(file, linesOf(file, '+'), 'added'),
    ...linesText(file, linesOf(file, '-'), 'removed'),
  ]);
}

function linesText(file: PatchFile, lines: readonly PatchLine[], side: DiffText['side']): DiffText[] {
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
  return [{ side, text, spanOf }];
}

function wholeTexts(raw: Uint8Array): DiffText[] {
  const text = decodeLossy(raw);
  const spanOf = spanner(text);
  const decoded = withoutJsonEscapes({ text, toStaged: (index) => index });
  const plain: DiffText = { side: 'added', text, spanOf };
  if (decoded === null) return [plain];
  const through = (start: number, end: number): Span =>
    spanOf(decoded.toStaged(start), decoded.toStaged(Math.max(start, end - 1)) + 1);
  return [plain, { side: 'added', text: decoded.text, spanOf: through }];
}
