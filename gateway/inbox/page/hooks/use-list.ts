import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ReviewList, ReviewListQuery } from '../../api';
import { api, apiError, type ApiError, type Cause } from '../api-client';
import { readOnChange, useLive } from './use-live';

export interface ListReading {
  /** Null before the first page. */
  readonly list: ReviewList | null;
  readonly error: ApiError | null;
  /** Shows one more page, also after a change. */
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
  const pages = useRef(1);
  const read = useCallback(
    async (cause: Cause) => {
      const turn = ++latest.current;
      try {
        const next = await readPages(JSON.parse(key) as ReviewListQuery, pages.current, cause);
        if (turn !== latest.current) return;
        setList(next);
        setError(null);
        onCount(next.turnCount);
      } catch (failure) {
        const problem = apiError(failure);
        if (turn === latest.current) setError(problem);
      }
    },
    [key, onCount],
  );
  useEffect(() => {
    setList(null);
    pages.current = 1;
    void read('person');
    return readOnChange(subscribe, () => read('page'), SETTLE_MS);
  }, [read, subscribe]);
  const more = async (): Promise<void> => {
    pages.current++;
    await read('person');
  };
  return { list, error, more };
}

/** The first pages as one list. A review that moved to the next page between two readings is shown once. */
async function readPages(query: ReviewListQuery, pages: number, cause: Cause): Promise<ReviewList> {
  let list = await api.reviews(query, cause);
  for (let page = 1; page < pages && list.next !== null; page++) {
    const next = await api.reviews({ ...query, cursor: list.next }, cause);
    const known = new Set(list.items.map(({ changeId }) => changeId));
    list = { ...next, items: [...list.items, ...next.items.filter(({ changeId }) => !known.has(changeId))] };
  }
  return list;
}
