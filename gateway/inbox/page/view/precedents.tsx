import type { JSX } from 'preact';
import type { Precedent } from '../../api';
import { hashOf } from '../model/routes';
import { shortTime } from '../../../../policy/text/short-time';
import { SafeText } from './safe-text';

const DECIDED = { confirm: 'confirmed', reject: 'rejected', retract: 'took back' } as const;

/** The last answers to the same rule. A text is why they could not be read; null means not yet. */
export function Precedents({ precedents }: { readonly precedents: readonly Precedent[] | string | null }): JSX.Element {
  if (precedents === null) return <p class="quiet">Reading earlier answers…</p>;
  if (typeof precedents === 'string') return <p class="quiet">{precedents}</p>;
  if (precedents.length === 0) return <p class="quiet">No earlier answer to this rule.</p>;
  return (
    <>
      <p class="quiet">As listed by the gateway, not verified. Open a review to verify it.</p>
      <ul class="precedents" aria-label="Earlier answers to this rule">
        {precedents.map(({ changeId, title, decision, person, at, outcome }, i) => (
          <li key={i}>
            <a href={hashOf({ view: 'review', changeId })}>
              <SafeText text={title} />
            </a>
            <span class="quiet">
              {' '}
              <SafeText text={person} /> {DECIDED[decision]}, {shortTime(at)}
              {outcome !== null && (
                <>
                  {', '}
                  <SafeText text={outcome.replaceAll('_', ' ').toLowerCase()} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
