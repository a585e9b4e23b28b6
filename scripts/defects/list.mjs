// Defects that a developer could introduce by mistake, each as one edit: `from` must occur exactly once in the file.
// `through` says what the defect would let through; `tests` are the test files that should catch it.
import { DEFECTS as storage } from './storage.mjs';
import { DEFECTS as signing } from './signing.mjs';
import { DEFECTS as passkeys } from './passkeys.mjs';
import { DEFECTS as policy } from './policy.mjs';
import { DEFECTS as committer } from './committer.mjs';
import { DEFECTS as activities } from './activities.mjs';
import { DEFECTS as sourceTools } from './source-tools.mjs';
import { DEFECTS as clients } from './clients.mjs';
import { DEFECTS as workers } from './workers.mjs';
import { DEFECTS as inbox } from './inbox.mjs';
import { DEFECTS as inboxPage } from './inbox-page.mjs';

export const DEFECTS = [
  ...storage,
  ...signing,
  ...passkeys,
  ...policy,
  ...committer,
  ...activities,
  ...sourceTools,
  ...clients,
  ...workers,
  ...inbox,
  ...inboxPage,
];
