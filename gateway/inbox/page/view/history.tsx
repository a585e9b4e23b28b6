import type { JSX } from 'preact';
import type { VerifiedReview } from '../../../../signing/verified-review';
import { counted } from '../../../../policy/text/counted';
import { ruleTitle } from '../model/cards';
import { shortTime } from '../../../../policy/text/short-time';
import { Badge } from './badge';
import { SafeLines, SafeText } from './safe-text';

const TONES = { confirm: 'good', reject: 'bad', retract: 'warn' } as const;
const WORDS = { confirm: 'confirmed', reject: 'rejected', retract: 'took back' } as const;

/** Answers and refusals, as the ledger has them. */
export function History({ review }: { readonly review: VerifiedReview }): JSX.Element | null {
  const { answers, refusals, status } = review;
  if (answers.length === 0 && refusals.length === 0) return null;
  const ruleOf = (violationId: string): string => {
    const violation = status.violations.find((each) => each.violationId === violationId);
    return violation === undefined ? violationId.slice(0, 12) : ruleTitle(violation.validatorId);
  };
  return (
    <section class="panel" aria-labelledby="history-title">
      <h2 id="history-title">Answers so far</h2>
      <ul class="history">
        {answers.map(({ admittedAt, person, decision, violationId, signed, reason, digest }) => (
          <li key={digest}>
            <time dateTime={admittedAt}>{shortTime(admittedAt)}</time>{' '}
            <strong>
              <SafeText text={person} />
            </strong>{' '}
            <Badge tone={TONES[decision]} text={WORDS[decision]} /> {ruleOf(violationId)}
            {!signed && <Badge tone="warn" text="unsigned" />}
            {reason !== '' && (
              <blockquote>
                <SafeLines text={reason} />
              </blockquote>
            )}
          </li>
        ))}
      </ul>
      {refusals.length > 0 && (
        <details>
          <summary>{counted(refusals.length, 'refused attempt')}</summary>
          <ul class="history">
            {refusals.map(({ n, at, body }) => (
              <li key={n}>
                <time dateTime={at}>{shortTime(at)}</time> <SafeText text={textOf(body['code'] ?? body['check'])} />:{' '}
                <SafeText text={textOf(body['message'] ?? body['explanation'])} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** These rows are not signed: a member can be missing, or of another type. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
