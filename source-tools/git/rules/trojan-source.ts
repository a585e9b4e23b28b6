import { noConfig, type Hit } from '../../../policy/rules/rule-maker';
import {
  bidi,
  controls,
  hasForeignLetters,
  homoglyphs,
  invisible,
  isOrdinary,
  type OddCharacter,
} from '../../../policy/text/characters';
import { atFile, gitRule, MODIFIED, patchOf } from './define-git-rule';
import { lineSpan, type PatchFile, type PatchLine } from '../facts/git-facts';
import type { FileView } from './patch-view';

/** Everything odd in one line or name. */
function odd(text: string, foreign: boolean): readonly OddCharacter[] {
  return [...bidi(text), ...invisible(text), ...controls(text), ...homoglyphs(text, foreign)];
}

export const trojanSource = gitRule({
  name: 'git_trojan_source',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'Code can be shown in another order than it runs in, or call a function that only looks like another.',
  config: noConfig,
  examples: {
    bad: patchOf('auth.js', MODIFIED, [
      '-if (level === "user") {',
      '+if (level === "user\u202e \u2066// admins only\u2069 \u2066") {',
    ]),
    good: patchOf('README.md', MODIFIED, ['-Hello', '+Привет, 世界 👩‍💻 שלום']),
  },
  find: ({ files, notUtf8 }) => [
    ...oddIn(files),
    ...notUtf8.map((line) => ({
      at: { startLine: line, startColumn: 1, endLine: line, endColumn: 1 },
      what: 'a line whose bytes are no UTF-8',
    })),
  ],
});

/** Past this many in the lines of a patch the rest says nothing new. */
const MAX_FOUND = 1000;

function oddIn(files: readonly FileView[]): Hit[] {
  const hits: Hit[] = [];
  for (const view of files) {
    const { file, names } = view;
    for (const { path } of names)
      if (!isOrdinary(path))
        for (const { what } of odd(path, hasForeignLetters(path))) hits.push(atFile(file, `its name: ${what}`));
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
  // A CR before the line end is a line end, too.
  const text = line.text.endsWith('\r') ? line.text.slice(0, -1) : line.text;
  return odd(text, foreign).map(({ index, length, what }) => {
    const span = lineSpan(file, line);
    // Text inside a binary patch has no place of its own.
    const own = span.startLine === line.line && span.endLine === line.line && span !== file.header;
    return { at: own ? { ...span, startColumn: index + 2, endColumn: index + 2 + length } : span, what };
  });
}
