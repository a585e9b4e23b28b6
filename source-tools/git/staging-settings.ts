import { z } from 'zod';
import { SETTLE_ATTEMPT_MS } from '../../policy/contracts/limits';
import { GITLINK, SYMLINK } from './facts/git-facts';
import { targetSettings } from '../target-settings';

/** A settling reads the history of the branch with one run, and refs and marker with short ones. */
const MAX_RUN_MS = SETTLE_ATTEMPT_MS - 10_000;

/** `plan.staging` for git targets. */
export const GitSettings = z.strictObject({
  /** Timeout of each git run. */
  timeoutMs: z.int().min(100).max(MAX_RUN_MS).default(30_000),
  /** Allowed modes after the change. Symbolic links and submodules are allowed only if the bundle lists them. */
  modes: z
    .array(z.enum(['100644', '100755', SYMLINK, GITLINK]))
    .min(1)
    .default(['100644', '100755']),
  maxPaths: z.int().min(1).max(500).default(500),
});
export type GitSettings = z.infer<typeof GitSettings>;

export const toGitSettings = (settings: unknown): GitSettings => targetSettings(GitSettings, 'a git target', settings);
