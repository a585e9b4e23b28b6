import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';
import type { VerifiedReview } from '../../../../signing/verified-review';
import type { ShownChange } from '../model/change-lines';
import { blocksOf, claimAnchor, type Place } from '../model/evidence';
import { stagedLines } from '../model/staged-lines';
import { jumpTo } from './jump';
import { SafeLines, SafeText, safeLine } from './safe-text';

interface Props {
  readonly places: readonly Place[];
  readonly change: ShownChange | null;
  readonly review: Pick<VerifiedReview, 'status' | 'staging'>;
  /** Blocks of evidence that were on screen. */
  readonly seen: ReadonlySet<string>;
}

/** Evidence of up to four lines is shown whole; of more, three lines are. */
const WHOLE_LINES = 4;
const SNIPPET_LINES = 3;
const MAX_SHOWN = 6;
const MAX_HIGHLIGHT = 400;

/** The places that a finding points at, each with its first lines and a button that goes there. */
export function EvidenceList({ places, change, review, seen }: Props): JSX.Element | null {
  if (places.length === 0) return null;
  const [shown, more] = [places.slice(0, MAX_SHOWN), places.slice(MAX_SHOWN)];
  const item = (place: Place, i: number): JSX.Element => (
    <Evidence key={i} place={place} change={change} review={review} seen={seen} />
  );
  return (
    <div class="evidence">
      <ul aria-label="Evidence">{shown.map(item)}</ul>
      {more.length > 0 && (
        <details>
          <summary>{more.length} more places</summary>
          <ul aria-label="More evidence">{more.map(item)}</ul>
        </details>
      )}
    </div>
  );
}

interface ItemProps extends Omit<Props, 'places'> {
  readonly place: Place;
}

function Evidence({ place, change, review, seen }: ItemProps): JSX.Element {
  const blocks = blocksOf(place);
  const left = blocks.filter((block) => !seen.has(block)).length;
  const target = targetsOf(place);
  // It does not depend on what is typed, and a line can be long.
  const snippet = useMemo(() => <Snippet {...{ place, change, review }} />, [place, change, review]);
  return (
    <li>
      {target.length === 0 ? (
        <code class="quiet">
          <SafeText text={place.label} />
        </code>
      ) : (
        <button type="button" class="link" onClick={() => jumpTo(target)}>
          Go to <SafeText text={place.label} />
        </button>
      )}
      {blocks.length > 0 && (
        <span class="quiet">
          {' '}
          {left === 0
            ? '✓ seen'
            : left === blocks.length
              ? 'not seen yet'
              : `${blocks.length - left} of ${blocks.length} parts seen`}
        </span>
      )}
      {snippet}
    </li>
  );
}

/** Ids of the elements of a place. */
function targetsOf(place: Place): string[] {
  switch (place.kind) {
    case 'lines': {
      const count = Math.min(place.last - place.first + 1, MAX_HIGHLIGHT);
      return Array.from({ length: count }, (_, i) => `line-${place.first + i}`);
    }
    case 'staging':
    case 'claim':
      return [place.anchor];
    case 'none':
      return [];
    default:
      return place satisfies never;
  }
}

/** The bytes themselves, so that small evidence is read where it is answered. */
function Snippet({ place, change, review }: Pick<ItemProps, 'place' | 'change' | 'review'>): JSX.Element | null {
  switch (place.kind) {
    case 'lines': {
      const count = place.last - place.first + 1;
      const shown = count <= WHOLE_LINES ? count : SNIPPET_LINES;
      const lines = (change?.lines ?? []).slice(place.first, place.first + shown);
      const left = count - lines.length;
      return (
        <pre class="snippet" data-block={left === 0 ? blocksOf(place).join(' ') : undefined}>
          {lines.map(({ text }, i) => (
            <span key={i} class="text-line">
              {safeLine(text)}
              {'\n'}
            </span>
          ))}
          {left > 0 && <span class="quiet">… {left} more lines</span>}
        </pre>
      );
    }
    case 'staging': {
      const lines = stagedLines(place.anchor, review.staging);
      return lines === null ? null : (
        <pre class="snippet" data-block={place.anchor}>
          <SafeLines text={lines.join('\n')} />
        </pre>
      );
    }
    case 'claim': {
      const claim = Object.entries(review.status.metadata).find(([name]) => claimAnchor(name) === place.anchor);
      return claim === undefined ? null : (
        <pre class="snippet" data-block={place.anchor}>
          <span class="quiet">claimed, not verified: </span>
          <SafeText text={`${claim[0]}: ${JSON.stringify(claim[1])}`} />
        </pre>
      );
    }
    case 'none':
      return null;
    default:
      return place satisfies never;
  }
}
