import type { JSX } from 'preact';
import type { ReviewListItem } from '../../api';
import { ruleTitle } from '../model/cards';
import { shortTime } from '../../../../policy/text/short-time';
import { agoText, whenText } from '../model/deadline';
import { hashOf } from '../model/routes';
import { stateText } from '../model/state-text';
import { Badge, severityText, severityTone, stateTone } from './badge';
import { SafeText } from './safe-text';

/** One review of the list, as the ledger's projection describes it. It is verified when it is opened. */
export function ListItem({ item, now }: { readonly item: ReviewListItem; readonly now: number }): JSX.Element {
  const { changeId, title, tenant, target, sourceTool, requester, state, reason } = item;
  const { highestSeverity, pending, waitingForYou } = item;
  const when = whenText(item, now);
  return (
    <li class="review-item">
      <div class="item-main">
        <a class="title" href={hashOf({ view: 'review', changeId })}>
          <SafeText text={title === '' ? changeId.slice(0, 12) : title} />
        </a>
        <p class="meta">
          <SafeText text={`${tenant}/${target}`} /> · <SafeText text={sourceTool} /> · asked by{' '}
          <SafeText text={requester ?? 'unknown'} />
        </p>
        {waitingForYou.length > 0 && (
          <ul class="waiting" aria-label="Waits for you because of">
            {waitingForYou.map(({ rule, since }, i) => (
              <li key={i}>
                <SafeText text={ruleTitle(rule)} /> <span class="quiet">since {agoText(since, now)}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
      <div class="item-side">
        <p>
          {highestSeverity !== null && highestSeverity !== 'ALLOW' && (
            <Badge tone={severityTone(highestSeverity)} text={severityText(highestSeverity)} />
          )}{' '}
          <Badge tone={stateTone(state)} text={stateText(state, reason, pending)} />
        </p>
        <p class="meta">
          {pending > 0 && <>{pending} to answer · </>}
          <time dateTime={when.at} title={shortTime(when.at)}>
            {when.text}
          </time>
        </p>
      </div>
    </li>
  );
}
