import type { JSX } from 'preact';
import type { Chosen } from '../model/choices';
import type { Friction, Typed } from '../model/friction';
import { jumpTo } from './jump';

export interface AnswerBarProps {
  readonly waiting: number;
  readonly chosen: readonly Chosen[];
  /** Why the answers cannot be sent yet; null if they can. */
  readonly problem: string | null;
  /** What must be typed, if one of the answers confirms. */
  readonly friction: Friction | null;
  readonly typed: Typed;
  readonly onTyped: (typed: Typed) => void;
  readonly sending: boolean;
  readonly error: string | null;
  readonly onSign: () => void;
}

/** What was chosen, and the button that signs it. */
export function AnswerBar(props: AnswerBarProps): JSX.Element {
  const { waiting, chosen, problem, friction, sending, error, onSign } = props;
  const count = chosen.length;
  const confirms = chosen.some(({ decision }) => decision === 'confirm');
  return (
    <section class="answer-bar" aria-label="Your answers">
      {friction !== null && confirms && <FrictionFields {...props} friction={friction} />}
      {error !== null && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <div class="answer-line">
        <p aria-live="polite">
          {count === 0 ? (
            <>
              <a href="#cards-title" onClick={toCards}>
                {waiting === 1 ? '1 violation waits' : `${waiting} violations wait`}
              </a>{' '}
              for your answer
            </>
          ) : (
            <>
              Chosen: <Counts chosen={chosen} />
              {problem !== null && <span class="note"> — {problem}</span>}
            </>
          )}
        </p>
        <button type="button" class="primary" disabled={count === 0 || problem !== null || sending} onClick={onSign}>
          {sending
            ? 'Waiting for your passkey…'
            : count === 0
              ? 'Sign'
              : count === 1
                ? 'Sign 1 answer'
                : `Sign ${count} answers`}
        </button>
      </div>
    </section>
  );
}

const WORDS = { confirm: 'to confirm', reject: 'to reject', retract: 'to take back' } as const;

function Counts({ chosen }: Pick<AnswerBarProps, 'chosen'>): JSX.Element {
  const of = (wanted: Chosen['decision']): number => chosen.filter(({ decision }) => decision === wanted).length;
  const counts = (['confirm', 'reject', 'retract'] as const).filter((decision) => of(decision) > 0);
  return (
    <>
      {counts.map((decision, i) => (
        <span key={decision}>
          {i > 0 && ', '}
          <strong class={decision === 'confirm' ? 'good' : 'bad'}>
            {of(decision)} {WORDS[decision]}
          </strong>
        </span>
      ))}
    </>
  );
}

/** Not by the address: its fragment is the route. */
function toCards(event: Event): void {
  event.preventDefault();
  jumpTo([document.querySelector('.card.yours')?.id ?? 'cards-title']);
}

function FrictionFields({ friction, typed, onTyped }: AnswerBarProps & { readonly friction: Friction }): JSX.Element {
  return (
    <fieldset class="friction">
      <legend>{friction.why} To confirm, type what it touches, as the dry run shows it.</legend>
      <label>
        {friction.nameLabel}
        <input
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={typed.name}
          onInput={({ currentTarget }) => onTyped({ ...typed, name: currentTarget.value })}
        />
      </label>
      <label>
        {friction.countLabel}
        <input
          type="text"
          inputMode="numeric"
          autocomplete="off"
          value={typed.count}
          onInput={({ currentTarget }) => onTyped({ ...typed, count: currentTarget.value })}
        />
      </label>
    </fieldset>
  );
}
