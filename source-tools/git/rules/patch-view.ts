import { pathName, type PathName } from '../../../policy/text/glob';
import { memoizeByObject } from '../../../policy/text/memoize';
import { linesOf, pathsOf, type GitPatchFacts, type PatchFile, type PatchLine } from '../facts/git-facts';

/** The facts of a patch with views of its files. A view computes derived values on first use and caches them for all rules. */
export interface GitPatch {
  readonly files: readonly FileView[];
  readonly stray: GitPatchFacts['stray'];
  readonly notUtf8: GitPatchFacts['notUtf8'];
}

export const patchView = memoizeByObject(({ files, stray, notUtf8 }: GitPatchFacts): GitPatch => ({
  files: files.map((file) => new FileView(file)),
  stray,
  notUtf8,
}));

export class FileView {
  readonly #lines: Partial<Record<PatchLine['kind'], readonly PatchLine[]>> = {};
  readonly #texts: Partial<Record<PatchLine['kind'], string>> = {};
  readonly #lowers: Partial<Record<PatchLine['kind'], string>> = {};
  #name: PathName | null = null;
  #names: readonly PathName[] | null = null;

  constructor(readonly file: PatchFile) {}

  /** The name after the change; for a deleted file, the name before it. */
  get name(): PathName {
    return (this.#name ??= pathName(this.file.path));
  }

  /** Old and new name, each once. */
  get names(): readonly PathName[] {
    return (this.#names ??= pathsOf(this.file).map((path) => (path === this.file.path ? this.name : pathName(path))));
  }

  /** See `linesOf`. */
  lines(kind: PatchLine['kind']): readonly PatchLine[] {
    return (this.#lines[kind] ??= linesOf(this.file, kind));
  }

  /**
   * Whether any line of the kind contains one of the words, ignoring case. One search over the joined text rules out most
   * files without looking at each line.
   */
  contains(kind: PatchLine['kind'], words: readonly string[]): boolean {
    const text = (this.#lowers[kind] ??= this.text(kind).toLowerCase());
    return text !== '' && words.some((word) => text.includes(word));
  }

  /** The lines of the kind, joined with line feeds. */
  text(kind: PatchLine['kind']): string {
    return (this.#texts[kind] ??= this.lines(kind)
      .map(({ text }) => text)
      .join('\n'));
  }
}
