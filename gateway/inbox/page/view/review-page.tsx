import { useEffect, useMemo } from 'preact/hooks';
import type { JSX } from 'preact';
import type { InboxSession, InboxTrust } from '../../api';
import { useReview, type ReadReview } from '../hooks/use-review';
import { useServerNow } from '../hooks/use-live';
import { repeat } from '../model/throttle';
import { Alert } from './alert';
import { DiffersPage } from './differs-page';
import { VerifiedPage } from './verified-page';
import { SafeText } from './safe-text';

interface Props {
  readonly changeId: string;
  readonly session: InboxSession;
  readonly trust: InboxTrust;
  /** False while the trusted keys differ from those that this browser remembers. */
  readonly trusted: boolean;
}

/** One review: read, verified, and then shown. */
export function ReviewPage({ changeId, session, trust, trusted }: Props): JSX.Element {
  const read = useReview(changeId, trust, session.person);
  const { reading } = read;
  switch (reading.kind) {
    case 'loading':
      return <p role="status">Reading and verifying the review…</p>;
    case 'failed':
      return (
        <div class="problem" role="alert">
          <h1 tabIndex={-1}>{reading.error.status === 404 ? 'No such review' : 'The review could not be read'}</h1>
          <p>{reading.error.message}</p>
          <button type="button" onClick={() => void read.readAgain('person')}>
            Try again
          </button>
        </div>
      );
    case 'differs':
      return <DiffersPage changeId={changeId} differences={reading.differences} reported={reading.reported} />;
    case 'verified':
      return <Verified read={read} reading={reading} session={session} trusted={trusted} />;
    default:
      return reading satisfies never;
  }
}

interface VerifiedProps {
  readonly read: ReadReview;
  readonly reading: Extract<ReadReview['reading'], { kind: 'verified' }>;
  readonly session: InboxSession;
  readonly trusted: boolean;
}

function Verified({ read, reading, session, trusted }: VerifiedProps): JSX.Element {
  const { review, news, error } = reading;
  const expired = usePassed(review.status.deadlineAt, read.readAgain);
  const open = review.status.state === 'INTERVENTION_REQUIRED' && !expired;
  const page = useMemo(
    () => <VerifiedPage review={review} session={session} open={open && trusted} readAgain={read.readAgain} />,
    [review, session, open, trusted, read.readAgain],
  );
  return (
    <>
      <News news={news} onDismiss={read.dismissNews} />
      <Alert look="banner bad" text={error === null ? null : `This is an older state: ${error.message}`} />
      {page}
    </>
  );
}

/** Whether the deadline has passed by the gateway's time. Then the review is read again until it has ended. */
function usePassed(deadlineAt: string | null, readAgain: ReadReview['readAgain']): boolean {
  const now = useServerNow();
  const passed = deadlineAt !== null && now >= Date.parse(deadlineAt);
  useEffect(() => (passed ? repeat(() => readAgain('page'), READ_AGAIN_MS) : undefined), [passed, readAgain]);
  return passed;
}

const READ_AGAIN_MS = 2000;

/** What changed while the review was open on this page. What was typed is still there. */
function News({ news, onDismiss }: { readonly news: readonly string[]; readonly onDismiss: () => void }): JSX.Element {
  return (
    <div aria-live="polite">
      {news.length > 0 && (
        <div class="banner news">
          <p>
            <strong>This review changed.</strong> What you typed is still here.
          </p>
          <ul>
            {news.map((text, i) => (
              <li key={i}>
                <SafeText text={text} />.
              </li>
            ))}
          </ul>
          <button type="button" onClick={onDismiss}>
            Got it
          </button>
        </div>
      )}
    </div>
  );
}
