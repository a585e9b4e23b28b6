import { useEffect, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import type { AnswerResult } from '../../../../policy/contracts/answer';
import type { VerifiedReview } from '../../../../signing/verified-review';
import type { Precedent } from '../../api';
import { api, apiError } from '../api-client';
import { ruleTitle, type Card } from '../model/cards';
import type { ShownChange } from '../model/change-lines';
import { Badge, severityText, severityTone } from './badge';
import { Decide, type AnswerProps } from './decide';
import { EvidenceList } from './evidence-list';
import { Judged } from './judged';
import { SafeLines, SafeText } from './safe-text';
import { Precedents } from './precedents';

interface CardProps extends AnswerProps {
  readonly review: VerifiedReview;
  readonly change: ShownChange | null;
  readonly seen: ReadonlySet<string>;
  readonly result: AnswerResult | null;
}

/** One violation: what fired and why, its evidence, who has answered, and the answer of this person. */
export function ViolationCard(props: CardProps): JSX.Element {
  const { card, review, change, seen, result } = props;
  const { number, violation, finding, places, message } = card;
  const title = ruleTitle(violation.validatorId);
  return (
    <article class={`card ${card.turn}`} id={`card-${number}`} aria-labelledby={`card-${number}-title`} tabIndex={-1}>
      <header>
        <span class="card-number" aria-hidden="true">
          {number}
        </span>
        <h3 id={`card-${number}-title`}>{title}</h3>
        {finding !== null && <Badge tone={severityTone(finding.status)} text={severityText(finding.status)} />}
      </header>
      {finding !== null && (
        <p class="why">
          <SafeLines text={finding.reason} />
        </p>
      )}
      {message !== '' && (
        <p class="message">
          <SafeLines text={message} />
        </p>
      )}
      {finding !== null && <Judged finding={finding} />}
      <EvidenceList places={places} change={change} review={review} seen={seen} />
      <Callback card={card} />
      <Quorum card={card} />
      {result !== null && <Result result={result} />}
      <Decide {...props} title={title} />
      <More card={card} review={review} />
    </article>
  );
}

function Callback({ card: { violation } }: { readonly card: Card }): JSX.Element | null {
  const { callbackResult } = violation;
  if (callbackResult === null) return null;
  return (
    <p>
      <Badge
        tone={callbackResult.passed ? 'good' : 'bad'}
        text={callbackResult.passed ? 'Callback passed' : 'Callback failed'}
      />{' '}
      <SafeText text={callbackResult.message ?? ''} />
    </p>
  );
}

function Quorum({ card: { violation } }: { readonly card: Card }): JSX.Element {
  const { need, policyKey, confirmedBy, quorum, group, mayAnswer, fourEyes, resolution } = violation;
  if (need !== 'human')
    return (
      <p class="quorum">
        Decided by the callback of policy <SafeText text={policyKey} />: {resolution}
      </p>
    );
  return (
    <p class="quorum">
      <strong>
        {confirmedBy.length} of {quorum} confirmed
      </strong>
      {confirmedBy.length > 0 && (
        <>
          {' '}
          (<SafeText text={confirmedBy.join(', ')} />)
        </>
      )}
      {resolution !== 'pending' && `, ${resolution}`}. Group <SafeText text={group} />:{' '}
      {mayAnswer.length === 0 ? 'no one can answer' : <SafeText text={mayAnswer.join(', ')} />}
      {fourEyes && ', not the requester (four eyes)'}
    </p>
  );
}

function Result({ result: { code, message } }: { readonly result: AnswerResult }): JSX.Element {
  const good = code === 'accepted' || code === 'duplicate';
  return (
    <p class={`result ${good ? 'good' : 'bad'}`} role="status">
      <strong>{good ? 'Recorded' : code === 'sent' ? 'Sent' : 'Refused'}</strong> ({code.replaceAll('_', ' ')}):{' '}
      <SafeText text={message} />
    </p>
  );
}

/** The rule, its policy, and earlier answers to the same rule. Loaded when it is opened. */
function More({ card, review }: Pick<CardProps, 'card' | 'review'>): JSX.Element {
  const { violation, finding } = card;
  const [open, setOpen] = useState(false);
  const [precedents, setPrecedents] = useState<readonly Precedent[] | string | null>(null);
  useEffect(() => {
    if (!open || precedents !== null) return;
    api
      .precedents(review.changeId, violation.validatorId)
      .then(setPrecedents, (error: unknown) => setPrecedents(apiError(error).message));
  }, [open, precedents, review.changeId, violation.validatorId]);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Rule and earlier answers</summary>
      <dl class="facts">
        <dt>Rule</dt>
        <dd>
          <code>
            <SafeText text={violation.validatorId} />
          </code>
          {finding !== null && ` (${finding.class})`}
        </dd>
        <dt>Policy</dt>
        <dd>
          <SafeText text={violation.policyKey} />
        </dd>
        {finding !== null && (
          <>
            <dt>Logic</dt>
            <dd>
              <code title={finding.logic_hash}>{finding.logic_hash.slice(0, 12)}</code>
            </dd>
          </>
        )}
        <dt>Violation</dt>
        <dd>
          <code title={violation.violationId}>{violation.violationId.slice(0, 12)}</code>
        </dd>
      </dl>
      {open && <Precedents precedents={precedents} />}
    </details>
  );
}
