import { z } from 'zod';
import type { ValidatorInput } from '../../../policy/rules/define';
import type { Hit } from '../../../policy/rules/hit';
import { factsRules, type FactsRuleOptions, type PackRule } from '../../../policy/rules/rule-maker';
import { filePlace, lineSpan, type GitPatchFacts, type PatchFile, type PatchLine } from '../facts/git-facts';
import { GIT_PACK } from '../facts/git-parser';
import { patchView, type FileView, type GitPatch } from './patch-view';

interface GitRuleOptions<Config> extends Omit<FactsRuleOptions<GitPatchFacts, Config>, 'find'> {
  readonly find: (patch: GitPatch, config: Config, input: ValidatorInput<Config>) => readonly Hit[];
}

/** Setting of a rule: at most `max` globs of paths. A glob with a leading slash would match nothing, so it is refused. */
export const globs = (max: number) =>
  z
    .array(
      z
        .string()
        .min(1)
        .max(500)
        .regex(/^[^/]/, 'expected a path relative to the root of the tree, without a leading "/"'),
    )
    .max(max);

const maker = factsRules<GitPatchFacts>(GIT_PACK);

export function gitRule<Config>({ find, ...options }: GitRuleOptions<Config>): PackRule {
  return maker<Config>({ ...options, find: (facts, config, input) => find(patchView(facts), config, input) });
}

/** A hit at the header of a file. */
export function atFile(file: PatchFile, what: string): Hit {
  return { at: file.header, what, file: { path: file.path, line: null } };
}

/** A hit at a line of a file. */
export function atLine(file: PatchFile, line: PatchLine, what: string): Hit {
  return { at: lineSpan(file, line), what, file: filePlace(file, line) };
}

/**
 * Hits for the added lines that `describe` returns a text for. `words` is a prefilter: `describe` must return null for a
 * line that contains none of them. `applies` decides about a line that it described.
 */
export function addedHits(
  view: FileView,
  words: readonly string[],
  describe: (text: string) => string | null,
  applies: (line: PatchLine) => boolean = () => true,
): Hit[] {
  if (!view.contains('+', words)) return [];
  return view.lines('+').flatMap((line) => {
    const what = describe(line.text);
    return what === null || !applies(line) ? [] : [atLine(view.file, line, what)];
  });
}

/** A one-file patch for examples; `lines` include their markers. */
export function patchOf(path: string, header: readonly string[], lines: readonly string[] = []): string {
  const count = (marker: string): number => lines.filter((line) => line[0] === marker || line[0] === ' ').length;
  const added = header.some((line) => line.startsWith('new file'));
  const deleted = header.some((line) => line.startsWith('deleted file'));
  const range = (n: number): string => (n === 1 ? '1' : `${n === 0 ? 0 : 1},${n}`);
  const body =
    lines.length === 0
      ? []
      : [
          `--- ${added ? '/dev/null' : `a/${path}`}`,
          `+++ ${deleted ? '/dev/null' : `b/${path}`}`,
          `@@ -${range(count('-'))} +${range(count('+'))} @@`,
          ...lines,
        ];
  return `${[`diff --git a/${path} b/${path}`, ...header, ...body].join('\n')}\n`;
}

export const MODIFIED = ['index 1f9d725..8c3482d 100644'];
export const NEW = ['new file mode 100644', 'index 0000000..8c3482d'];
