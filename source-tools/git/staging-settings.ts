import { z } from 'zod';
import { GITLINK, SYMLINK } from './facts/git-facts';
import { targetSettings } from '../target-settings';

/** `plan.staging` for git targets. */
export const GitSettings = z.strictObject({
  /** Timeout of each git run. */
  timeoutMs: z.int().min(100).max(300_000).default(30_000),
  /** Allowed modes after the change. Symbolic links and submodules are allowed only if the bundle lists them. */
  modes: z
    .array(z.enum(['100644', '100755', SYMLINK, GITLINK]))
    .min(1)
    .default(['100644', '100755']),
  maxPaths: z.int().min(1).max(500).default(500),
});
export type GitSettings = z.infer<typeof GitSettings>;

export const toGitSettings = (settings: unknown): GitSettings => targetSettings(GitSettings, 'a git target', settings);
