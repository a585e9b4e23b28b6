import type { Hit } from '../../../policy/rules/hit';
import { bidi, controls, hasForeignLetters, homoglyphs, invisible } from '../../../policy/text/characters';
import { isOrdinary } from '../../../policy/text/code-points';
import type { OddCharacter } from '../../../policy/text/odd-character';
import { atFile, atLine, gitRule, MODIFIED, patchOf } from './define-git-rule';
import { lineSpan, type PatchFile, type PatchLine } from '../facts/git-facts';
import type { FileView } from './patch-view';

/** All suspicious characters in one line or name. */
function suspiciousIn(text: string, foreign: boolean): readonly OddCharacter[] {
  return [...bidi(text), ...invisible(text), ...controls(text), ...homoglyphs(text, foreign)];
}

export const trojanSource = gitRule({
  name: 'git_trojan_source',
  logicRevision: 6,
  defaultLevel: 'confirm',
  why: 'Invisible and look-alike characters can make code display differently from how it runs.',
  examples: {
    bad: patchOf('auth.js', MODIFIED, [
      '-if (level === "user") {',
      '+if (level === "user\u202e \u2066// admins only\u2069 \u2066") {',
    ]),
    good: patchOf('README.md', MODIFIED, ['-Hello', '+Привет, 世界 👩‍💻 שלום']),
  },
  find: ({ files }) => suspiciousHits(files),
});

/** Maximum number of hits in the lines of a patch. */
const MAX_FOUND = 1000;

function suspiciousHits(files: readonly FileView[]): Hit[] {
  const hits: Hit[] = [];
  for (const view of files) {
    const { file, names } = view;
    for (const { path } of names)
      if (!isOrdinary(path))
        for (const { what } of suspiciousIn(path, hasForeignLetters(path)))
          hits.push(atFile(file, `file name: ${what}`));
    const text = view.text('+');
    if (isOrdinary(text)) continue;
    const foreign = hasForeignLetters(text);
    for (const line of view.lines('+')) {
      if (hits.length >= MAX_FOUND) break;
      if (!isOrdinary(line.text)) hits.push(...inLine(file, line, foreign));
    }
  }
  return hits;
}

function inLine(file: PatchFile, line: PatchLine, foreign: boolean): Hit[] {
  // Treat CRLF as a line end.
  const text = line.text.endsWith('\r') ? line.text.slice(0, -1) : line.text;
  return suspiciousIn(text, foreign).map(({ index, length, what }) => {
    const hit = atLine(file, line, what);
    // Text inside a binary patch has no position in the patch.
    return hit.at === file.header
      ? hit
      : { ...hit, at: { ...lineSpan(file, line), startColumn: index + 2, endColumn: index + 2 + length } };
  });
}
