import type { Card } from './cards';
import { draftProblem, type Draft } from './drafts';
import { isTyped, type Friction, type Typed } from './friction';

/** One chosen answer. */
export interface Chosen {
  readonly violationId: string;
  readonly decision: 'confirm' | 'reject';
  readonly reason: string;
  readonly coverage: number;
}

/** One touch signs at most this many statements. */
export const MAX_CHOSEN = 50;

export function chosenAnswers(
  mine: readonly Card[],
  draftOf: (violationId: string) => Draft,
  coverage: (card: Card) => number,
): Chosen[] {
  return mine.flatMap((card) => {
    const { violationId } = card.violation;
    const { decision, reason } = draftOf(violationId);
    return decision === null ? [] : [{ violationId, decision, reason, coverage: coverage(card) }];
  });
}

/** Why the chosen answers cannot be signed yet; null if they can. */
export function sendProblem(chosen: readonly Chosen[], friction: Friction | null, typed: Typed): string | null {
  if (chosen.length > MAX_CHOSEN) return `choose at most ${MAX_CHOSEN} answers for one signature`;
  const problem = chosen.map(draftProblem).find((each) => each !== null);
  if (problem != null) return problem;
  const confirms = chosen.some(({ decision }) => decision === 'confirm');
  return confirms && friction !== null && !isTyped(friction, typed)
    ? 'type what the change touches, to confirm it'
    : null;
}
