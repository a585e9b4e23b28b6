/**
 * The named failpoints: before and after every activity, ledger write and target write. They exist in the sweep's own
 * worker processes alone, which decorate what production wires (`worker.ts`); no production code knows of them.
 */

/** What a failpoint does to the process that reaches it. */
export const ACTIONS = ['kill', 'throw', 'hang', 'lost'] as const;
/** Fails with an error that Temporal does not retry. Not part of the matrix: a review may rightly end in another way then. */
export const FINAL_ACTION = 'fatal';
/** Further actions, which need the sweep's own process: freeze the worker; kill PostgreSQL or the Temporal server. */
export const ENVIRONMENT_ACTIONS = ['stop', 'postgres', 'temporal'] as const;
export type Action = (typeof ACTIONS)[number] | typeof FINAL_ACTION | (typeof ENVIRONMENT_ACTIONS)[number];

export type When = 'before' | 'after';

export const ACTIVITY_POINTS = [
  'openReview',
  'runGuardians',
  'stage',
  'askJudge',
  'attestJudgeFailure',
  'disclose',
  'notify',
  'admitAnswer',
  'commit',
  'reconcile',
  'rollback',
  'recordVerdicts',
].map((name) => `activity.${name}`);

/** By the kind of the row that the append is about. `effect` writes effect, receipt and closing row in one transaction. */
export const LEDGER_POINTS = [
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

/** `inside` is in the commit's transaction: after the work, before the effect is written and COMMIT is sent. */
export const TARGET_POINTS = ['stage', 'commit', 'inside', 'seal'].map((step) => `target.${step}`);

export const POINTS: readonly string[] = [...ACTIVITY_POINTS, ...LEDGER_POINTS, ...TARGET_POINTS];

/** Longer than any activity may run in the sweep: whoever hangs wakes up as a zombie and goes on. */
export const HANG_MS = 14_000;

export interface Fault {
  readonly point: string;
  readonly when: When;
  readonly action: Action;
  /** For `postgres` and `temporal`: how long the worker waits after it asked for the kill. */
  readonly afterMs?: number;
}

export function faultText({ point, when, action, afterMs }: Fault): string {
  return `${point}:${when}:${action}${afterMs === undefined ? '' : `:${afterMs}`}`;
}

/** Throws a TypeError where the text is not `point:before|after:action`. */
export function toFault(text: string): Fault {
  const [point = '', when, action, afterMs] = text.split(':');
  const actions: readonly string[] = [...ACTIONS, FINAL_ACTION, ...ENVIRONMENT_ACTIONS];
  if (!POINTS.includes(point) || (when !== 'before' && when !== 'after') || !actions.includes(action ?? ''))
    throw new TypeError(`"${text}": expected point:before|after:action, with a point of ${POINTS.join(', ')}`);
  return { point, when, action: action as Action, ...(afterMs === undefined ? {} : { afterMs: Number(afterMs) }) };
}
