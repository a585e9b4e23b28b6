import type { PathName } from '../../../../policy/text/glob';

/** The parts of the last segment of a path, in lower case: `userCard.module.css` has the stem `usercard`, of the words `user` and `card`. */
export interface NameParts {
  /** Before the first dot. */
  readonly stem: string;
  readonly words: readonly string[];
  /** Between the first and the last dot. */
  readonly inner: readonly string[];
  /** After the last dot; empty if the name has no dot. */
  readonly extension: string;
}

export function nameParts({ path }: PathName): NameParts {
  const [stem = '', ...rest] = path.slice(path.lastIndexOf('/') + 1).split('.');
  const extension = rest.pop() ?? '';
  return {
    stem: stem.toLowerCase(),
    words: wordsOf(stem),
    inner: rest.map((word) => word.toLowerCase()),
    extension: extension.toLowerCase(),
  };
}

/** `setupTests`, `setup-tests` and `setup_tests` have the same words. */
export function wordsOf(stem: string): readonly string[] {
  const separated = stem.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  return separated.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}
