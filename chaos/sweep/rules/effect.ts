import { isCommitted, of, sameJson, type Line, type Review, type Rule } from './review';

/** K1, K2 and K4: what was done to the target, and that the ledger announced it. */
export const EFFECT: readonly Rule[] = [
  atMostOneEffect,
  markerAgrees,
  ledgerAgrees,
  effectRowAgrees,
  oneSettlement,
  intentNamesTheReview,
  intentBeforeEffect,
];

const claimsCommit = ({ lines }: Review): boolean =>
  of(lines, 'closed').some(({ parsed }) => parsed['state'] === 'COMMITTED');

function atMostOneEffect({ effects }: Review): string[] {
  return effects < 0 || effects > 1 ? [`K1: ${effects} effects`] : [];
}

/** The effect that the marker names; null if there is no marker or if it is sealed. */
function markedEffect({ marker }: Review): unknown {
  if (marker === null || marker === 'not kept' || marker.effect === null) return null;
  return marker.effect['sealed'] === true ? null : marker.effect;
}

function markerAgrees(review: Review): string[] {
  const { marker, effects } = review;
  if (marker === 'not kept') return [];
  if (marker !== null && marker.effect === null) return ['K2: a marker without an effect'];
  const word = markedEffect(review) === null ? 'no' : 'a';
  return [
    ...((word === 'a') !== effects > 0 ? [`K2: ${word} marker, but ${effects} effects`] : []),
    ...((word === 'a') !== claimsCommit(review) ? [`K2: ${word} marker, but ${ledgerText(review)}`] : []),
  ];
}

function ledgerAgrees(review: Review): string[] {
  const { effects } = review;
  return effects > 0 === claimsCommit(review) ? [] : [`K2: ${effects} effects, but ${ledgerText(review)}`];
}

const ledgerText = (review: Review): string => `the ledger says ${claimsCommit(review) ? '' : 'not '}COMMITTED`;

/** The row of a rollback names no effect. */
function effectRowAgrees(review: Review): string[] {
  const [row] = of(review.lines, 'effect');
  if (row === undefined || (review.marker === 'not kept' && isCommitted(review))) return [];
  return sameJson(row.parsed['effect'], markedEffect(review))
    ? []
    : ['K2: effect row and marker name different effects'];
}

function oneSettlement(review: Review): string[] {
  const settlements = of(review.lines, 'intent', 'decided');
  if (settlements.length !== 1) return [`K4: ${settlements.length} settlements`];
  return isCommitted(review) && settlements[0]?.kind !== 'intent' ? ['K4: committed without an intent'] : [];
}

/** Of several dry runs the disclosed one counts. A review that asks no one discloses nothing. */
function intentNamesTheReview({ lines }: Review): string[] {
  const [intent] = of(lines, 'intent');
  if (intent === undefined) return [];
  const members = [
    ['fingerprint', 'disclosed'],
    ['planHash', 'planned'],
    ...(of(lines, 'disclosed').length > 0 ? [['stagingSha', 'disclosed'] as const] : []),
  ] as const;
  const named = members.flatMap(([member, kind]) =>
    sameJson(memberOf(of(lines, kind)[0], member), intent.parsed[member] ?? null)
      ? []
      : [`K4: the intent names another ${member} than the row ${kind}`],
  );
  const isStaged = of(lines, 'staged').some((line) =>
    sameJson(memberOf(line, 'stagingSha'), intent.parsed['stagingSha']),
  );
  return isStaged ? named : [...named, 'K4: the intent names a dry run without a row staged'];
}

const memberOf = (line: Line | undefined, member: string): unknown => line?.parsed[member] ?? null;

function intentBeforeEffect({ writtenAt, lines }: Review): string[] {
  const [intent] = of(lines, 'intent');
  return intent !== undefined && writtenAt !== null && writtenAt.getTime() < Date.parse(intent.at)
    ? ['K4: the target was written before the intent']
    : [];
}
