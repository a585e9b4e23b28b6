import { useEffect, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import type { ReviewListItem, ReviewTab } from '../../api';
import { useList } from '../hooks/use-list';
import { useServerNow } from '../hooks/use-live';
import { useShortcuts } from '../hooks/use-shortcuts';
import { emptyText, queryOf, type ListFilters } from '../model/list-filters';
import { hashOf } from '../model/routes';
import { Alert } from './alert';
import { Filters } from './filters';
import { ListItem } from './list-item';

interface Props {
  readonly tab: ReviewTab;
  readonly filters: ListFilters;
  readonly onFilters: (filters: ListFilters) => void;
  readonly onCount: (count: number) => void;
}

const TITLES: Readonly<Record<ReviewTab, string>> = {
  turn: 'Your turn',
  waiting: 'Waiting on others',
  all: 'All reviews',
};

/** One tab of the list. j and k move, Enter opens. */
export function ListPage({ tab, filters, onFilters, onCount }: Props): JSX.Element {
  const settled = useSettled(filters);
  const { list, error, more } = useList(queryOf(tab, settled), onCount);
  const now = useServerNow();
  const items = list?.items ?? [];
  useListShortcuts(items);
  return (
    <section class="list-page" aria-labelledby="list-title">
      <h1 id="list-title" tabIndex={-1}>
        {TITLES[tab]}
      </h1>
      <Filters filters={filters} onChange={onFilters} />
      <Alert look="banner bad" text={error === null ? null : `The list could not be read: ${error.message}`} />
      {list === null ? (
        error === null && <p role="status">Reading the list…</p>
      ) : (
        <>
          <p class="sr-only" role="status">
            {items.length} shown{list.next === null ? '' : ', more follow'}
          </p>
          {items.length === 0 && <p class="empty">{emptyText(tab, settled)}</p>}
          <ol class="reviews" aria-label={TITLES[tab]}>
            {items.map((item) => (
              <ListItem key={item.changeId} item={item} now={now} />
            ))}
          </ol>
          {list.next !== null && (
            <button type="button" class="more" onClick={() => void more()}>
              Show more
            </button>
          )}
        </>
      )}
    </section>
  );
}

const SETTLE_MS = 250;

/** The filters when nothing was typed for a moment. */
function useSettled(filters: ListFilters): ListFilters {
  const [settled, setSettled] = useState(filters);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(filters), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [filters]);
  return settled;
}

function useListShortcuts(items: readonly ReviewListItem[]): void {
  const links = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('.reviews a.title')];
  const move = (by: number): void => {
    const all = links();
    const at = all.findIndex((link) => link === document.activeElement);
    const next = at === -1 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(0, at + by), all.length - 1);
    all[next]?.focus();
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    o: () => {
      const focused = links().find((link) => link === document.activeElement);
      const [first] = items;
      if (focused !== undefined) focused.click();
      else if (first !== undefined) location.hash = hashOf({ view: 'review', changeId: first.changeId });
    },
    '/': () => document.getElementById('search')?.focus(),
  });
}
