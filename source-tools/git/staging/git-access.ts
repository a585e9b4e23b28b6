import { misconfigured } from '../../../policy/contracts/failure';
import type { TargetAccess } from '../../../policy/contracts/target-effects';

/** One ref of one repository on the committer's disk. */
export interface GitAccess {
  readonly name: string;
  readonly git: {
    /** Absolute path of a bare repository, or of the top of a normal one. */
    readonly repository: string;
    /** In full, such as `refs/heads/main`. */
    readonly ref: string;
    /** Author and committer of the commits that are written. */
    readonly author: { readonly name: string; readonly email: string };
  };
}

/** The repository of a target. Throws CONFIGURATION_ERROR if the target is not a git repository. */
export function gitOf(target: TargetAccess): GitAccess['git'] {
  const { git } = target as Partial<GitAccess>;
  if (git !== undefined) return git;
  throw misconfigured(`target: "${target.name}" is not a git repository in this committer's configuration`, {
    target: target.name,
  });
}
