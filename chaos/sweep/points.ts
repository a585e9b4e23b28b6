/**
 * The named failpoints: before and after every activity, run of the guardians' rules, ledger write and target write. They exist only in
 * the sweep's worker processes, which decorate the production wiring (`worker.ts`); production code has no failpoints.
 */

/** Actions on the process that reaches the failpoint. */
export const ACTIONS = ['kill', 'throw', 'hang', 'lost'] as const;
/**
 * Fails with an error that Temporal does not retry, each time: a step within a workflow task is repeated if the worker is killed before
 * it reports the error. Not part of the matrix, because the review may then have another outcome.
 */
const FINAL_ACTION = 'fatal';
/** Actions that the sweep's main process completes: freeze the worker; kill PostgreSQL or the Temporal server. */
const ENVIRONMENT_ACTIONS = ['stop', 'postgres', 'temporal'] as const;
export type Action = (typeof ACTIONS)[number] | typeof FINAL_ACTION | (typeof ENVIRONMENT_ACTIONS)[number];

export type When = 'before' | 'after';

const ACTIVITY_POINTS = [
  'openReview',
  'runGuardians',
  'stage',
  'askJudge',
  'attestJudgeFailure',
  'disclose',
  'admitAnswer',
  'commit',
  'reconcile',
  'rollback',
].map((name) => `activity.${name}`);

/** The rules of the guardians, in the opening of a review and in `runGuardians`. */
export const RULES_POINT = 'rules.run';

/** Named after the main kind of row in the append. `effect` writes effect, receipt and closing row in one transaction. */
const LEDGER_POINTS = [
  'submitted',
  'findings',
  'staged',
  'attested',
  'disclosed',
  'answer_accepted',
  'answer_refused',
  'intent',
  'decided',
  'refused',
  'effect',
].map((kind) => `ledger.${kind}`);

/** `inside` is within the commit transaction: after the statements, before the effect is written and COMMIT is sent. */
export const TARGET_POINTS = ['stage', 'commit', 'inside', 'seal'].map((step) => `target.${step}`);

export const POINTS: readonly string[] = [...ACTIVITY_POINTS, RULES_POINT, ...LEDGER_POINTS, ...TARGET_POINTS];

/** Longer than any activity timeout of the sweep, so a hanging attempt resumes as a zombie. */
export const HANG_MS = 14_000;

export interface Fault {
  readonly point: string;
  readonly when: When;
  readonly action: Action;
  /** For `postgres` and `temporal`: milliseconds that the worker waits after requesting the kill. */
  readonly afterMs?: number;
}

export const isPermanent = ({ action }: Fault): boolean => action === FINAL_ACTION;

export function faultText({ point, when, action, afterMs }: Fault): string {
  return `${point}:${when}:${action}${afterMs === undefined ? '' : `:${afterMs}`}`;
}

/** Throws a TypeError if the text is not `point:before|after:action`. */
export function toFault(text: string): Fault {
  const [point = '', when, action, afterMs] = text.split(':');
  const actions: readonly string[] = [...ACTIONS, FINAL_ACTION, ...ENVIRONMENT_ACTIONS];
  if (!POINTS.includes(point) || (when !== 'before' && when !== 'after') || !actions.includes(action ?? ''))
    throw new TypeError(`"${text}": expected point:before|after:action, with a point of ${POINTS.join(', ')}`);
  return { point, when, action: action as Action, ...(afterMs === undefined ? {} : { afterMs: Number(afterMs) }) };
}
