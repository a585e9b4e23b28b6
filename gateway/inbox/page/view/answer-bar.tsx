import type { JSX } from 'preact';
import { counted } from '../../../../policy/text/counted';
import type { Chosen } from '../model/choices';
import type { Friction, Typed } from '../model/friction';
import { Alert } from './alert';
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
    <section class="answer-bar" data-bar="bottom" aria-label="Your answers">
      {friction !== null && confirms && <FrictionFields {...props} friction={friction} />}
      <Alert text={error} />
      <div class="answer-line">
        <p aria-live="polite">
          {count === 0 ? (
            <>
              <a href="#cards-title" onClick={toCards}>
                {counted(waiting, 'violation waits', 'violations wait')}
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
        <button
          type="button"
          class="primary"
          disabled={count === 0 || problem !== null}
          // A disabled button would lose the focus, also if the passkey is not used.
          aria-disabled={sending}
          onClick={() => !sending && onSign()}
        >
          {sending ? 'Waiting for your passkey…' : count === 0 ? 'Sign' : `Sign ${counted(count, 'answer')}`}
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
  const field = (name: keyof Typed, label: string): JSX.Element => (
    <label>
      {label}
      <input
        type="text"
        inputMode={name === 'count' ? 'numeric' : 'text'}
        autocomplete="off"
        spellcheck={false}
        value={typed[name]}
        onInput={({ currentTarget }) => onTyped({ ...typed, [name]: currentTarget.value })}
      />
    </label>
  );
  return (
    <fieldset class="friction">
      <legend>{friction.why} To confirm, type what it touches, as the dry run shows it.</legend>
      {field('name', friction.nameLabel)}
      {field('count', friction.countLabel)}
    </fieldset>
  );
}
