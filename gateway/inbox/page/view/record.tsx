import type { JSX } from 'preact';
import type { VerifiedReview } from '../../../../signing/verified-review';
import { unreadText } from '../../../../policy/rules/fold-unread';
import { counted } from '../../../../policy/text/counted';
import { ruleTitle, type ReviewCards } from '../model/cards';
import { SafeText } from './safe-text';

/** Checks that could not read the change, as a finding above says, folded into one line. */
export function UnreadChecks({ cards: { unread } }: { readonly cards: ReviewCards }): JSX.Element | null {
  const text = unreadText(unread.length);
  if (text === null) return null;
  return (
    <details class="panel">
      <summary>
        <h2>… {text}</h2>
      </summary>
      <ul class="checks">
        {unread.map(({ validator_id: id, reason }, i) => (
          <li key={i}>
            {ruleTitle(id)} <code class="quiet">{id}</code>: <SafeText text={reason} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Checks that did not fire, folded into one line. */
export function PassedChecks({ cards: { passed, skipped } }: { readonly cards: ReviewCards }): JSX.Element | null {
  if (passed.length + skipped.length === 0) return null;
  return (
    <details class="panel">
      <summary>
        <h2>
          ✓ {counted(passed.length, 'check')} passed
          {skipped.length > 0 && `, ${skipped.length} skipped`}
        </h2>
      </summary>
      <ul class="checks">
        {[...passed, ...skipped].map(({ validator_id: id, status, reason }, i) => (
          <li key={i}>
            {ruleTitle(id)} <code class="quiet">{id}</code>
            {status === 'SKIPPED' && <span class="quiet"> skipped</span>}
            {reason !== '' && (
              <>
                : <SafeText text={reason} />
              </>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

interface RecordProps {
  readonly review: VerifiedReview;
  readonly temporalUi: string | null;
}

/** The gateway names it, so it could be code. */
const WEB_ADDRESS = /^https?:\/\//;

/** What binds the review: digests, plan, and the workflow. */
export function RecordDetails({ review: { status, changeId, plan }, temporalUi }: RecordProps): JSX.Element {
  const { diffSha, inputSha, stagingSha, planHash, fingerprint } = status;
  const digests: readonly (readonly [string, string | null])[] = [
    ['Change id', changeId],
    ['Bytes (SHA-256)', diffSha],
    ['Submission', inputSha],
    ['Plan', planHash],
    ['Dry run', stagingSha],
    ['Fingerprint', fingerprint],
  ];
  return (
    <details class="panel">
      <summary>
        <h2>Verified in this browser: digests, plan and workflow</h2>
      </summary>
      <dl class="facts">
        {digests.map(([name, digest]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{digest ?? 'none'}</code>
            </dd>
          </div>
        ))}
        {plan !== null && (
          <div>
            <dt>Checks of the plan</dt>
            <dd>{plan.validators.length}</dd>
          </div>
        )}
        {temporalUi !== null && WEB_ADDRESS.test(temporalUi) && (
          <div>
            <dt>Workflow</dt>
            <dd>
              <a href={`${temporalUi}/${changeId}`} target="_blank" rel="noreferrer noopener">
                Open in the Temporal UI
              </a>
            </dd>
          </div>
        )}
      </dl>
    </details>
  );
}
