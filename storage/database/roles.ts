/** One login role per process, each with the least rights that do (DESIGN §9). */
export const ROLES = ['cs_review', 'cs_judge', 'cs_commit', 'cs_gateway', 'cs_operator', 'cs_reader'] as const;
export type Role = (typeof ROLES)[number];

type Right = 'select' | 'insert' | 'update';
type Grants = Readonly<Record<string, readonly Right[]>>;

const readKeys: Grants = { keys: ['select'], key_revocations: ['select'], schema_info: ['select'] };
const readPolicy: Grants = {
  policy_revisions: ['select'],
  policy_revocations: ['select'],
  target_freezes: ['select'],
};
const readLedger: Grants = {
  ledger: ['select'],
  reviews: ['select'],
  refusal_counts: ['select'],
  answer_nonces: ['select'],
};
/** Evidence is exported with the rights of the gateway's role, with proofs. */
const readCheckpoints: Grants = { ledger_checkpoints: ['select'], ledger_leaves: ['select'] };

/**
 * Tables by role. Nobody may insert into `ledger` directly: `ledger_append` does, for whoever may execute it, so that a chain is always whole.
 * Nobody but its owner may write what is not listed.
 */
export const TABLE_GRANTS: Readonly<Record<Role, Grants>> = {
  cs_review: {
    ...readLedger,
    ...readKeys,
    ...readPolicy,
    blobs: ['select', 'insert'],
    staging_records: ['select'],
  },
  cs_judge: {
    ...readLedger,
    ...readKeys,
    ...readPolicy,
    blobs: ['select'],
    staging_records: ['select'],
    judge_answers: ['select', 'insert', 'update'],
  },
  cs_commit: {
    ...readLedger,
    ...readKeys,
    ...readPolicy,
    blobs: ['select', 'insert'],
    staging_records: ['select', 'insert'],
    effect_sends: ['select', 'insert'],
    ledger_checkpoints: ['select', 'insert'],
    ledger_leaves: ['select', 'insert'],
  },
  cs_gateway: {
    ...readLedger,
    ...readKeys,
    ...readPolicy,
    ...readCheckpoints,
    blobs: ['select', 'insert'],
    staging_records: ['select'],
  },
  cs_operator: {
    ...readLedger,
    schema_info: ['select'],
    keys: ['select', 'insert'],
    key_revocations: ['select', 'insert'],
    policy_revisions: ['select', 'insert'],
    policy_revocations: ['select', 'insert'],
    target_freezes: ['select', 'insert'],
  },
  cs_reader: {
    ...readLedger,
    ...readKeys,
    ...readPolicy,
    ...readCheckpoints,
    blobs: ['select'],
    staging_records: ['select'],
  },
};

/** Kinds of ledger row that each role may append; roles that are not here append none. How a change ends is the committer's alone to write. */
export const APPEND_GRANTS: Partial<Readonly<Record<Role, readonly string[]>>> = {
  cs_review: [
    'submitted',
    'planned',
    'findings',
    'attested',
    'disclosed',
    'answer_accepted',
    'answer_refused',
    'refused',
  ],
  cs_judge: ['attested', 'refused'],
  cs_commit: [
    'planned',
    'findings',
    'staged',
    'attested',
    'decided',
    'intent',
    'effect',
    'receipt',
    'refused',
    'closed',
  ],
  cs_gateway: ['answer_refused', 'refused'],
  cs_operator: ['resolved'],
};

/** Roles whose appends may write the projection `reviews`. */
export const PROJECTING_ROLES: readonly Role[] = ['cs_review', 'cs_commit'];
