import type { Decision } from '../../../../policy/contracts/answer';
import type { Card } from './cards';
import { coverageOf, unseenPlaces } from './coverage';
import { draftProblem, type Draft } from './drafts';
import { isTyped, type Friction, type Typed } from './friction';

/** One chosen answer. */
export interface Chosen {
  readonly violationId: string;
  readonly decision: Decision;
  readonly reason: string;
  readonly coverage: number;
  /** False for a confirmation whose evidence was not on screen: a draft of an earlier visit. */
  readonly ready: boolean;
  /** Digest of the confirmation that a retraction takes back; null for other decisions. */
  readonly retracts: string | null;
}

/** One passkey signature covers at most this many statements. */
const MAX_CHOSEN = 50;

interface Choosing {
  readonly draftOf: (violationId: string) => Draft;
  /** Blocks of evidence that were on screen. */
  readonly seen: ReadonlySet<string>;
  /** Whether the page has the bytes and the rows of the dry run. */
  readonly canConfirm: boolean;
}

/** The drafts that this person can send: a confirmation or a reject of a violation that waits, or a confirmation that is taken back. */
export function chosenAnswers(cards: readonly Card[], { draftOf, seen, canConfirm }: Choosing): Chosen[] {
  return cards.flatMap((card) => {
    const { violationId } = card.violation;
    const { decision, reason } = draftOf(violationId);
    if (decision === null || (decision === 'confirm' && !canConfirm)) return [];
    const retracts = decision === 'retract' ? card.confirmation : null;
    const possible = decision === 'retract' ? retracts !== null : card.turn === 'yours';
    if (!possible) return [];
    const ready = decision !== 'confirm' || unseenPlaces(card.places, seen).length === 0;
    return [{ violationId, decision, reason, coverage: coverageOf(card.places, seen), ready, retracts }];
  });
}

/** Why the chosen answers cannot be signed yet; null if they can. */
export function sendProblem(chosen: readonly Chosen[], friction: Friction | null, typed: Typed): string | null {
  if (chosen.length > MAX_CHOSEN) return `choose at most ${MAX_CHOSEN} answers for one signature`;
  if (chosen.some(({ ready }) => !ready)) return 'look at the evidence of what you confirm';
  const problem = chosen.map(draftProblem).find((each) => each !== null);
  if (problem != null) return problem;
  const confirms = chosen.some(({ decision }) => decision === 'confirm');
  return confirms && friction !== null && !isTyped(friction, typed)
    ? 'type what the change touches, to confirm it'
    : null;
}
