import type { LoadedKey } from '../signing/key-file';
import type { Role } from '../storage/database/roles';
import { CommitEnv, GatewayEnv, JudgeEnv, ReviewEnv } from '../workers/process-env';
import type { ProcessName } from '../workers/start-process';

/** The processes of a directory that `countersign init` makes. Each reads its settings from the file `<name>.env` there. */
export const PROCESSES = {
  review: { title: 'review worker', role: 'cs_review', schema: ReviewEnv, keyKind: 'attestor' },
  judge: { title: 'judge worker', role: 'cs_judge', schema: JudgeEnv, keyKind: 'attestor' },
  commit: { title: 'committer', role: 'cs_commit', schema: CommitEnv, keyKind: 'committer' },
  gateway: { title: 'gateway', role: 'cs_gateway', schema: GatewayEnv, keyKind: null },
} as const satisfies Record<
  ProcessName,
  { readonly title: string; readonly role: Role; readonly schema: object; readonly keyKind: LoadedKey['kind'] | null }
>;
export const PROCESS_NAMES = Object.keys(PROCESSES) as ProcessName[];
