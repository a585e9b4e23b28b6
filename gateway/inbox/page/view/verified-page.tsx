import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import type { VerifiedReview } from '../../../../signing/verified-review';
import type { InboxSession } from '../../api';
import { useAnswers } from '../hooks/use-answers';
import { useCoverage } from '../hooks/use-coverage';
import { useDrafts } from '../hooks/use-drafts';
import type { ReadReview } from '../hooks/use-review';
import { useShortcuts } from '../hooks/use-shortcuts';
import { shownReview, type ShownReview } from '../model/shown-review';
import { chosenAnswers, sendProblem } from '../model/choices';
import { unseenPlaces } from '../model/coverage';
import { AnswerBar } from './answer-bar';
import { ChangeView } from './change-view';
import { Claims, EffectMetadata } from './claims';
import { DryRun } from './dry-run';
import { FiredList } from './fired-list';
import { History } from './history';
import { PassedChecks, RecordDetails, UnreadChecks } from './record';
import { ReviewHeader } from './review-header';
import { StructureView } from './structure-view';
import { ViolationCard } from './violation-card';

interface Props {
  readonly review: VerifiedReview;
  readonly session: InboxSession;
  /** Whether it takes answers now. */
  readonly open: boolean;
  readonly readAgain: ReadReview['readAgain'];
}

/** A verified review: what the change does on the left, what fired and the answers on the right. */
export function VerifiedPage({ review, session, open, readAgain }: Props): JSX.Element {
  const shown = useMemo(() => shownReview(review, session.person), [review, session.person]);
  const { cards, friction } = shown;
  const { fingerprint } = review.status;
  const seen = useCoverage(`${review.changeId} ${fingerprint}`);
  const drafts = useDrafts(session.person, review);
  const [typed, setTyped] = useState({ name: '', count: '' });
  const answering = useAnswers(session, (accepted) => {
    drafts.remove(accepted);
    void readAgain('person');
  });
  const waiting = open ? cards.cards.filter(({ turn }) => turn === 'yours').length : 0;
  const hasRows = review.preview !== null || (review.staging?.previewSha ?? null) === null;
  const canConfirm = hasRows && review.bytes !== null;
  const chosen = chosenAnswers(open ? cards.cards : [], { draftOf: drafts.of, seen, canConfirm });
  useCardShortcuts(cards.cards.length);
  const content = useMemo(() => <Content review={review} shown={shown} />, [review, shown]);
  return (
    <article class="review" aria-labelledby="review-title">
      <ReviewHeader review={review} title={shown.title} />
      <div class="columns">
        <div class="what">{content}</div>
        <div class="decisions">
          <FiredList
            title="What ended it"
            note="These checks end a review without asking anyone."
            fired={cards.endedBy}
            {...{ review, change: shown.change, seen }}
          />
          {cards.cards.length > 0 && (
            <h2 id="cards-title">
              {cards.cards.length === 1 ? 'Why it asks' : `Why it asks: ${cards.cards.length} violations`}
            </h2>
          )}
          {cards.cards.map((card) => (
            <ViolationCard
              key={card.violation.violationId}
              card={card}
              review={review}
              change={shown.change}
              seen={seen}
              unseen={unseenPlaces(card.places, seen)}
              draft={drafts.of(card.violation.violationId)}
              onDraft={(change) => drafts.set(card.violation.violationId, change)}
              result={answering.results[card.violation.violationId] ?? null}
              canAnswer={open}
              canConfirm={canConfirm}
            />
          ))}
          <FiredList
            title="Other findings"
            note="They need no answer."
            fired={cards.advice}
            {...{ review, change: shown.change, seen }}
          />
          <UnreadChecks cards={cards} />
          <History review={review} />
          <PassedChecks cards={cards} />
          <RecordDetails review={review} temporalUi={session.temporalUi} />
        </div>
      </div>
      {waiting + chosen.length > 0 && (
        <AnswerBar
          waiting={waiting}
          chosen={chosen}
          problem={sendProblem(chosen, friction, typed)}
          friction={friction}
          typed={typed}
          onTyped={setTyped}
          sending={answering.sending}
          error={answering.error}
          onSign={() => void answering.send(review, chosen)}
        />
      )}
    </article>
  );
}

/** What the bytes say. It does not depend on what is typed, so a long change is rendered once. */
function Content({ review, shown }: { readonly review: VerifiedReview; readonly shown: ShownReview }): JSX.Element {
  const { staging, preview, status } = review;
  const { change, structure, marks } = shown;
  return (
    <>
      <section class="panel" aria-labelledby="change-title">
        <h2 id="change-title">What it does</h2>
        {structure !== null && <StructureView structure={structure} />}
        {change === null ? (
          <p class="warning">The bytes of the change cannot be read here. Do not confirm what you cannot see.</p>
        ) : structure === null ? (
          <ChangeView change={change} marks={marks} />
        ) : (
          <>
            <h3>Full text</h3>
            <ChangeView change={change} marks={marks} />
          </>
        )}
      </section>
      {staging !== null && <DryRun staging={staging} preview={preview} />}
      <EffectMetadata sourceTool={status.sourceTool} metadata={status.metadata} />
      <Claims sourceTool={status.sourceTool} metadata={status.metadata} />
    </>
  );
}

/** n and p go to the next and previous card; c and r answer the one that has the focus. */
function useCardShortcuts(count: number): void {
  const [at, setAt] = useState(0);
  const go = (to: number): void => {
    const next = Math.min(Math.max(1, to), count);
    setAt(next);
    const card = document.getElementById(`card-${next}`);
    card?.scrollIntoView({ block: 'nearest' });
    card?.focus({ preventScroll: true });
  };
  const press = (what: 'confirm' | 'reject'): void => {
    const card = document.activeElement?.closest('.card');
    card?.querySelector<HTMLElement>(`.decide .${what}`)?.click();
    if (what === 'reject') requestAnimationFrame(() => card?.querySelector('textarea')?.focus());
  };
  useShortcuts({
    n: () => go(at + 1),
    p: () => go(at - 1),
    c: () => press('confirm'),
    r: () => press('reject'),
  });
}
