import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ReviewList, ReviewListItem, ReviewListQuery } from '../../api';
import { api, ApiError } from '../api-client';
import { throttle } from '../model/throttle';
import { useLive } from './use-live';

export interface ListReading {
  /** Null before the first page. */
  readonly list: ReviewList | null;
  readonly error: ApiError | null;
  readonly more: () => Promise<void>;
}

/** Several changes in a short time cause one reading. */
const SETTLE_MS = 500;

/** One tab of the list with its filters, read again whenever a review changes. `onCount` gets the number of reviews of this person. */
export function useList(query: ReviewListQuery, onCount: (count: number) => void): ListReading {
  const [list, setList] = useState<ReviewList | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const { subscribe } = useLive();
  const key = JSON.stringify(query);
  const latest = useRef(0);
  const read = useCallback(async () => {
    const turn = ++latest.current;
    try {
      const next = await api.reviews(JSON.parse(key) as ReviewListQuery);
      if (turn !== latest.current) return;
      setList(next);
      setError(null);
      onCount(next.turnCount);
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      if (turn === latest.current) setError(failure);
    }
  }, [key, onCount]);
  useEffect(() => {
    setList(null);
    void read();
    const again = throttle(() => void read(), SETTLE_MS);
    const stop = subscribe(again.call);
    return () => {
      stop();
      again.cancel();
    };
  }, [read, subscribe]);
  const more = async (): Promise<void> => {
    if (list?.next == null) return;
    const turn = latest.current;
    try {
      const next = await api.reviews({ ...query, cursor: list.next });
      if (turn === latest.current) setList({ ...next, items: [...list.items, ...notIn(next.items, list.items)] });
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
    }
  };
  return { list, error, more };
}

/** A review that moved to the next page between two readings is shown once. */
function notIn(items: readonly ReviewListItem[], known: readonly ReviewListItem[]): ReviewListItem[] {
  const ids = new Set(known.map(({ changeId }) => changeId));
  return items.filter(({ changeId }) => !ids.has(changeId));
}
