import type { JSX } from 'preact';
import type { VerifiedReview } from '../../../../signing/verified-review';
import { ruleTitle, type Fired } from '../model/cards';
import type { ShownChange } from '../model/change-lines';
import { Badge, severityText, severityTone } from './badge';
import { EvidenceList } from './evidence-list';
import { Judged } from './judged';
import { SafeLines } from './safe-text';

interface Props {
  readonly title: string;
  readonly note: string;
  readonly fired: readonly Fired[];
  readonly review: VerifiedReview;
  readonly change: ShownChange | null;
  readonly seen: ReadonlySet<string>;
}

/** Findings that ask no one: those that ended the review, and advice. */
export function FiredList({ title, note, fired, review, change, seen }: Props): JSX.Element | null {
  if (fired.length === 0) return null;
  return (
    <section class="fired-list" aria-label={title}>
      <h2>{title}</h2>
      <p class="note">{note}</p>
      {fired.map(({ finding, places }, i) => (
        <article class="card advice" key={i}>
          <header>
            <h3>{ruleTitle(finding.validator_id)}</h3>
            <Badge tone={severityTone(finding.status)} text={severityText(finding.status)} />
          </header>
          <p class="why">
            <SafeLines text={finding.reason} />
          </p>
          <Judged finding={finding} />
          <EvidenceList places={places} change={change} review={review} seen={seen} />
          <p class="quiet">
            <code>{finding.validator_id}</code> ({finding.class})
          </p>
        </article>
      ))}
    </section>
  );
}
