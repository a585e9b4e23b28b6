import type { VerifiedReview } from '../../../../signing/verified-review';
import { cardsOf, type ReviewCards } from './cards';
import { changeLines, type ShownChange } from './change-lines';
import { blocksOf, middleLine, type Place } from './evidence';
import { frictionOf, type Friction } from './friction';
import { reviewTitle } from './review-title';
import { structureOf, type Structure } from './structure';

/** Everything that the page shows of a verified review, for one person. */
export interface ShownReview {
  readonly title: string;
  readonly change: ShownChange | null;
  readonly structure: Structure | null;
  readonly cards: ReviewCards;
  readonly friction: Friction | null;
  readonly marks: {
    /** By index of a line: numbers of the cards whose evidence it is. Advice and endings have the number 0. */
    readonly cards: ReadonlyMap<number, readonly number[]>;
    /** By index of a line: the blocks of evidence whose middle it is, separated by spaces. */
    readonly blocks: ReadonlyMap<number, string>;
  };
}

export function shownReview(review: VerifiedReview, person: string): ShownReview {
  const { status, bytes } = review;
  const change = bytes === null ? null : changeLines(status.sourceTool, bytes);
  const structure = bytes === null ? null : structureOf(status.sourceTool, bytes);
  const cards = cardsOf(review, change, person);
  return {
    title: reviewTitle(review, change, structure),
    change,
    structure,
    cards,
    friction: frictionOf(review, structure),
    marks: marksOf(cards),
  };
}

function marksOf({ cards, endedBy, advice }: ReviewCards): ShownReview['marks'] {
  const numbered = [
    ...cards.map(({ number, places }) => ({ number, places })),
    ...[...endedBy, ...advice].map(({ places }) => ({ number: 0, places })),
  ];
  const byLine = new Map<number, number[]>();
  const blocks = new Map<number, Set<string>>();
  for (const { number, places } of numbered) {
    for (const place of places) {
      markLines(byLine, place, number);
      for (const block of blocksOf(place)) {
        const line = middleLine(block);
        if (line !== null) blocks.set(line, (blocks.get(line) ?? new Set()).add(block));
      }
    }
  }
  return { cards: byLine, blocks: new Map([...blocks].map(([line, of]) => [line, [...of].join(' ')])) };
}

function markLines(byLine: Map<number, number[]>, place: Place, number: number): void {
  if (place.kind !== 'lines') return;
  for (let line = place.first; line <= place.last; line++) {
    const known = byLine.get(line) ?? [];
    if (!known.includes(number)) byLine.set(line, [...known, number]);
  }
}
