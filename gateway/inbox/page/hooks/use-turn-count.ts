import { useEffect } from 'preact/hooks';
import { api, apiError } from '../api-client';
import { readOnChange, type Live } from './use-live';

const SETTLE_MS = 1000;

/** The number of reviews of this person, while no list is shown that has it. `onCount` must not change. */
export function useTurnCount(active: boolean, subscribe: Live['subscribe'], onCount: (count: number) => void): void {
  useEffect(() => {
    if (!active) return undefined;
    const read = async (): Promise<void> => {
      try {
        onCount((await api.reviews({ tab: 'turn' }, 'page')).turnCount);
      } catch (error) {
        apiError(error); // The connection shows its own state; the last number stays.
      }
    };
    void read();
    return readOnChange(subscribe, read, SETTLE_MS);
  }, [active, subscribe, onCount]);
}
