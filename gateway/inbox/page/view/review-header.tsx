import { useEffect } from 'preact/hooks';
import type { JSX } from 'preact';
import type { VerifiedReview } from '../../../../signing/verified-review';
import { useServerNow } from '../hooks/use-live';
import { foldedExplanation } from '../../../../policy/rules/fold-unread';
import { shortTime } from '../../../../policy/text/short-time';
import { agoText, remainingText } from '../model/deadline';
import { stateText } from '../model/state-text';
import { Badge, stateTone } from './badge';
import { SafeLines, SafeText } from './safe-text';

interface Props {
  readonly review: VerifiedReview;
  readonly title: string;
}

/** What the change does, its state, its deadline, and who asks. */
export function ReviewHeader({ review: { status, outcome }, title }: Props): JSX.Element {
  const { state, reason, environment, tenant, target, sourceTool, mode, requester, warnings, disclosedAt } = status;
  const pending = status.violations.filter(
    ({ need, resolution }) => need === 'human' && resolution === 'pending',
  ).length;
  const now = useServerNow();
  useEffect(() => {
    // The view was changed before the review was read, so its heading could not get the focus then.
    if (document.activeElement === document.body) document.getElementById('review-title')?.focus();
  }, []);
  return (
    <header class="review-header">
      <h1 tabIndex={-1} id="review-title">
        <SafeText text={title} />
      </h1>
      <p class="state-line">
        <Badge tone={stateTone(state)} text={stateText(state, reason, pending)} />
        <Badge tone={environment === 'production' ? 'warn' : 'quiet'} text={environment ?? 'environment unknown'} />
        {mode === 'cooperative' && <Badge tone="info" text="The requester applies it" />}
        <Deadline deadlineAt={status.deadlineAt} now={now} />
      </p>
      <p class="meta">
        <SafeText text={`${tenant}/${target}`} /> · <SafeText text={sourceTool} /> · asked by{' '}
        {requester === null ? <strong>unknown (not signed)</strong> : <SafeText text={requester} />}
        {disclosedAt !== null && <> · {agoText(disclosedAt, now)}</>}
      </p>
      {outcome !== null && outcome.explanation !== '' && (
        <p class="explanation">
          <SafeLines text={foldedExplanation(outcome.explanation, outcome.findings)} />
        </p>
      )}
      {warnings.map((warning, i) => (
        <p class="warning" key={i}>
          <SafeText text={warning} />
        </p>
      ))}
    </header>
  );
}

function Deadline({
  deadlineAt,
  now,
}: {
  readonly deadlineAt: string | null;
  readonly now: number;
}): JSX.Element | null {
  if (deadlineAt === null) return null;
  const text = remainingText(deadlineAt, now);
  return (
    <span class="deadline">
      {text === 'passed' ? (
        <>The deadline has passed: it is rolled back</>
      ) : (
        <>
          Deadline{' '}
          <time dateTime={deadlineAt} title={shortTime(deadlineAt)}>
            {text}
          </time>
          , then it is rolled back
        </>
      )}
    </span>
  );
}
