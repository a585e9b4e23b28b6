import type { JSX } from 'preact';
import type { Card, Turn } from '../model/cards';
import { draftProblem, MAX_REASON, type Draft } from '../model/drafts';
import type { Place } from '../model/evidence';
import { SafeLines, SafeText } from './safe-text';

const NOT_YOURS: Readonly<Record<Exclude<Turn, 'yours'>, string>> = {
  answered_by_you: 'You have answered this.',
  not_in_group: 'You are not in the group that answers this.',
  four_eyes: 'You asked for this change, so another person must answer (four eyes).',
  resolved: 'This needs no further answer.',
  needs_no_answer: 'This needs no answer from a person.',
  closed: 'The review takes no answers now.',
};

export interface AnswerProps {
  readonly card: Card;
  readonly draft: Draft;
  readonly onDraft: (change: Partial<Draft>) => void;
  /** Evidence of which nothing was on screen yet. */
  readonly unseen: readonly Place[];
  /** Whether answers can be given at all. */
  readonly canAnswer: boolean;
  /** Whether the page has the bytes and the rows of the dry run. */
  readonly canConfirm: boolean;
}

interface DecideProps extends AnswerProps {
  readonly title: string;
}

/** The answer of this person to one violation, or why this person cannot answer it. */
export function Decide(props: DecideProps): JSX.Element {
  const { card, draft, onDraft, unseen, canAnswer, canConfirm, title } = props;
  if (card.confirmation !== null && canAnswer) return <TakeBack {...props} />;
  if (card.turn !== 'yours' || !canAnswer)
    return (
      <>
        <p class="not-yours">{card.turn === 'yours' ? NOT_YOURS.closed : NOT_YOURS[card.turn]}</p>
        {draft.reason !== '' && <NotSent reason={draft.reason} />}
      </>
    );
  const toggle = (decision: 'confirm' | 'reject'): void =>
    onDraft({ decision: draft.decision === decision ? null : decision });
  const id = `card-${card.number}`;
  const blocked = !canConfirm || unseen.length > 0;
  return (
    <div class="decide" role="group" aria-label={`Answer: ${title}`}>
      <div class="buttons">
        <button
          type="button"
          class="confirm"
          id={`${id}-confirm`}
          aria-pressed={canConfirm && draft.decision === 'confirm'}
          aria-describedby={blocked ? `${id}-blocked` : undefined}
          disabled={blocked}
          onClick={() => toggle('confirm')}
        >
          Confirm
        </button>
        <button
          type="button"
          class="reject"
          id={`${id}-reject`}
          aria-pressed={draft.decision === 'reject'}
          onClick={() => toggle('reject')}
        >
          Reject
        </button>
      </div>
      {blocked && (
        <p class="note" id={`${id}-blocked`}>
          {canConfirm ? (
            <SafeText
              text={`To confirm, look at the evidence first: ${unseen
                .map(({ label }) => label)
                .slice(0, 3)
                .join(', ')}.`}
            />
          ) : (
            'The bytes or the rows of the dry run were not sent, so this cannot be confirmed.'
          )}
        </p>
      )}
      <Reason draft={draft} onDraft={onDraft} />
    </div>
  );
}

/** What this person typed before the review took no more answers. */
function NotSent({ reason }: { readonly reason: string }): JSX.Element {
  return (
    <div class="note">
      You typed this, and it was not sent:
      <blockquote>
        <SafeLines text={reason} />
      </blockquote>
    </div>
  );
}

function Reason({ draft, onDraft }: Pick<DecideProps, 'draft' | 'onDraft'>): JSX.Element | null {
  if (draft.decision === null && draft.reason === '') return null;
  return (
    <label class="reason">
      {draft.decision === 'reject' ? 'Reason (required)' : 'Reason (optional)'}
      <textarea
        rows={2}
        maxLength={MAX_REASON}
        value={draft.reason}
        aria-invalid={draftProblem(draft) !== null}
        onInput={({ currentTarget }) => onDraft({ reason: currentTarget.value })}
      />
    </label>
  );
}

/** A confirmation counts until it is taken back; the commit ends that. */
function TakeBack({ draft, onDraft, title }: DecideProps): JSX.Element {
  const chosen = draft.decision === 'retract';
  return (
    <div class="decide" role="group" aria-label={`Answer: ${title}`}>
      <p class="not-yours">You have confirmed this.</p>
      <button type="button" aria-pressed={chosen} onClick={() => onDraft({ decision: chosen ? null : 'retract' })}>
        Take my confirmation back
      </button>
      {chosen && <Reason draft={draft} onDraft={onDraft} />}
    </div>
  );
}
