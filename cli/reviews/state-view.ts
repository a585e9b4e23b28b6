import type { ReviewState } from '../../policy/contracts/outcome';
import type { ReviewStatus } from '../../policy/contracts/status';
import { line, styled, type Style, type Text } from '../printer';
import { shortTime } from '../../policy/text/short-time';

/** The state of a review, as every screen prints it. */
export interface ShownState {
  readonly state: ReviewState;
  readonly reason: string | null;
  /** Number of violations that wait for a person. */
  readonly pending: number;
  readonly deadlineAt: string | null;
}

export function shownState({ state, reason, violations, deadlineAt }: ReviewStatus): ShownState {
  const pending = violations.filter((violation) => violation.need === 'human' && violation.resolution === 'pending');
  return { state, reason, pending: pending.length, deadlineAt };
}

/** Whether an answer can still count in this state. */
export function takesAnswers(state: ReviewState): boolean {
  return state === 'RUNNING' || state === 'INTERVENTION_REQUIRED';
}

/** `INTERVENTION_REQUIRED  2 to answer until 2026-11-21 10:00Z (in 24 h)` */
export function stateLine({ state, reason, pending, deadlineAt }: ShownState, now: Date): Text {
  const next = nextStep(state, pending);
  const deadline =
    deadlineAt === null || state !== 'INTERVENTION_REQUIRED' || pending === 0
      ? ''
      : ` until ${shortTime(deadlineAt)} (${remaining(deadlineAt, now)})`;
  return line`${stateText(state, reason)}${next === '' ? '' : `  ${next}${deadline}`}`;
}

function nextStep(state: ReviewState, pending: number): string {
  switch (state) {
    case 'RUNNING':
      return 'rules, judge and dry run, then the commit';
    case 'INTERVENTION_REQUIRED':
      return pending === 0 ? 'answered, to be decided' : `${pending} to answer`;
    case 'COMMITTING':
      return 'the committer has begun';
    case 'EFFECT_UNKNOWN':
      return 'look at the target, then: countersign resolve';
    case 'COMMITTED':
    case 'ROLLED_BACK':
    case 'COMPENSATED':
      return '';
    default:
      return state satisfies never;
  }
}

export function stateText(state: string, reason: string | null): Text {
  const style: Style =
    state === 'COMMITTED' ? 'green' : state === 'ROLLED_BACK' || state === 'COMPENSATED' ? 'red' : 'yellow';
  return styled(style, reason === null ? state : `${state} ${reason}`);
}

function remaining(deadline: string, now: Date): string {
  const minutes = Math.floor((Date.parse(deadline) - now.getTime()) / 60_000);
  if (minutes < 0) return 'past';
  return minutes < 120 ? `in ${minutes} min` : `in ${Math.floor(minutes / 60)} h`;
}
