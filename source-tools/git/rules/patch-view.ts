import { pathName, type PathName } from '../../../policy/text/glob';
import { memoizeByObject } from '../../../policy/text/memoize';
import { linesOf, pathsOf, type GitPatchFacts, type PatchFile, type PatchLine } from '../facts/git-facts';

/** The facts of a patch with what its rules ask of each file again and again: worked out when it is first asked, once for all rules. */
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

  /** The name after the change, or before it where the file is deleted. */
  get name(): PathName {
    return (this.#name ??= pathName(this.file.path));
  }

  /** Old and new name, each once. */
  get names(): readonly PathName[] {
    return (this.#names ??= pathsOf(this.file).map((path) => (path === this.file.path ? this.name : pathName(path))));
  }

  /** As `linesOf`. */
  lines(kind: PatchLine['kind']): readonly PatchLine[] {
    return (this.#lines[kind] ??= linesOf(this.file, kind));
  }

  /** Whether a line of the kind holds one of the words, in any case. Most files hold none, and one search says so for all lines. */
  holds(kind: PatchLine['kind'], words: readonly string[]): boolean {
    const text = (this.#lowers[kind] ??= this.text(kind).toLowerCase());
    return text !== '' && words.some((word) => text.includes(word));
  }

  /** The lines of the kind as one text. */
  text(kind: PatchLine['kind']): string {
    return (this.#texts[kind] ??= this.lines(kind)
      .map(({ text }) => text)
      .join('\n'));
  }
}
