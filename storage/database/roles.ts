import { EFFECT_UNKNOWN, NOTHING_APPLIED, STEP_FAILED } from '../../policy/contracts/ledger';

/** One login role per process, each with the least privileges that it needs. */
export const ROLES = ['cs_review', 'cs_judge', 'cs_commit', 'cs_gateway', 'cs_operator', 'cs_reader'] as const;
export type Role = (typeof ROLES)[number];

type Right = 'select' | 'insert' | 'update' | 'delete';
type Grants = Readonly<Record<string, readonly Right[]>>;

const readKeys: Grants = {
  keys: ['select'],
  key_revocations: ['select'],
  enrollments: ['select'],
  passkeys: ['select'],
  schema_info: ['select'],
};
const readPolicy: Grants = {
  policy_revisions: ['select'],
  policy_revocations: ['select'],
  compiled_plans: ['select'],
  target_freezes: ['select'],
};
const readLedger: Grants = {
  ledger: ['select'],
  reviews: ['select'],
  refusal_counts: ['select'],
  breaker_rows: ['select'],
  answer_nonces: ['select'],
};
/** For the export of evidence, which contains inclusion proofs. */
const readCheckpoints: Grants = {
  ledger_checkpoints: ['select'],
  ledger_leaves: ['select'],
  ledger_nodes: ['select'],
};

/**
 * Table privileges by role. No role may insert into `ledger` directly. Roles with EXECUTE on `ledger_append` use that function, which
 * keeps the hash chain intact. Only the owner has privileges that are not listed.
 */
export const TABLE_GRANTS: Readonly<Record<Role, Grants>> = {
  cs_review: {
    ...readLedger,
    ...readKeys,
    ...readPolicy,
    blobs: ['select', 'insert'],
    breaker_rows: ['select', 'insert'],
    notices: ['select', 'insert', 'update'],
    notice_looks: ['select', 'update'],
  },
  cs_judge: {
    ...readLedger,
    ...readKeys,
    ...readPolicy,
    blobs: ['select'],
    judge_answers: ['select', 'insert', 'update'],
  },
  cs_commit: {
    ...readLedger,
    ...readKeys,
    ...readPolicy,
    blobs: ['select'],
    staging_records: ['select', 'insert'],
    rehearsals: ['select', 'insert'],
    history_replays: ['select', 'insert'],
    effect_sends: ['select', 'insert'],
    ledger_checkpoints: ['select', 'insert'],
    ledger_leaves: ['select', 'insert'],
    ledger_nodes: ['select', 'insert'],
    breaker_rows: ['select', 'insert'],
  },
  cs_gateway: {
    ...readLedger,
    ...readKeys,
    ...readPolicy,
    ...readCheckpoints,
    passkeys: ['select', 'insert'],
    blobs: ['select', 'insert'],
    staging_records: ['select'],
    review_violations: ['select'],
    review_answers: ['select'],
    inbox_sessions: ['select', 'insert', 'update', 'delete'],
    inbox_challenges: ['select', 'insert', 'delete'],
  },
  cs_operator: {
    ...readLedger,
    blobs: ['select', 'delete'],
    judge_answers: ['select', 'delete'],
    schema_info: ['select'],
    keys: ['select', 'insert'],
    key_revocations: ['select', 'insert'],
    enrollments: ['select', 'insert'],
    passkeys: ['select'],
    policy_revisions: ['select'],
    policy_revocations: ['select', 'insert'],
    compiled_plans: ['select'],
    target_freezes: ['select', 'insert'],
    breaker_rows: ['select', 'insert'],
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

/** Kinds of ledger rows that each role may append. Roles that are not listed may not append. Only the committer writes how a change ends. */
export const APPEND_GRANTS: Partial<Readonly<Record<Role, readonly string[]>>> = {
  cs_review: [
    'submitted',
    'planned',
    'findings',
    'attested',
    'disclosed',
    'answer_accepted',
    'retracted',
    'withdrawn',
    'superseded',
    'answer_refused',
    'refused',
  ],
  cs_judge: ['attested', 'refused'],
  cs_commit: ['findings', 'staged', 'decided', 'intent', 'effect', 'receipt', 'refused', 'closed', 'head', 'repaired'],
  cs_gateway: ['answer_refused', 'refused', 'spent'],
  cs_operator: ['resolved'],
};

/** Checks in rows `refused` on which the end or the state of a review rests, with the roles whose processes make them. */
export const DECISIVE_CHECKS: Readonly<Record<string, readonly Role[]>> = {
  stage: ['cs_commit'],
  [NOTHING_APPLIED]: ['cs_commit'],
  [EFFECT_UNKNOWN]: ['cs_commit'],
  [STEP_FAILED]: ['cs_review', 'cs_commit'],
};

/** Roles with EXECUTE on `publish_policy`. What they store counts only if a trusted operator signed it. */
export const PUBLISHING_ROLES: readonly Role[] = ['cs_gateway', 'cs_operator'];

/** Roles that may write the projection `reviews` with an append. */
export const PROJECTING_ROLES: readonly Role[] = ['cs_review', 'cs_commit'];
