import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { InboxEvent } from '../../api';
import { api, apiError, eventsUrl, learnServerTime, serverNow } from '../api-client';
import { throttle } from '../model/throttle';

export interface Services {
  readonly database: boolean;
  readonly temporal: boolean;
}

export interface Live {
  readonly connection: 'connecting' | 'open' | 'lost';
  readonly services: Services;
  /** Calls `listener` with the id of a review in which rows were appended, and with null if any review may look different. Returns how to stop. */
  readonly subscribe: (listener: (changeId: string | null) => void) => () => void;
}

const ALL_UP: Services = { database: true, temporal: true };
export const LiveContext = createContext<Live>({
  connection: 'connecting',
  services: ALL_UP,
  subscribe: () => () => {},
});

export function useLive(): Live {
  return useContext(LiveContext);
}

/** A gateway sends an event every ten seconds at the latest. */
const SILENCE_MS = 20_000;
const RETRY_MS = 1500;

/** The connection for server-sent events. `active`: false without a session. */
export function useEvents(active: boolean): Live {
  const listeners = useRef(new Set<(changeId: string | null) => void>());
  const [connection, setConnection] = useState<Live['connection']>('connecting');
  const [services, setServices] = useState(ALL_UP);
  const [subscribe] = useState(() => (listener: (changeId: string | null) => void) => {
    listeners.current.add(listener);
    return () => listeners.current.delete(listener);
  });
  useEffect(() => {
    if (!active) return undefined;
    const tell = (changeId: string | null): void => listeners.current.forEach((listener) => listener(changeId));
    /** Whether changes may have been missed: while disconnected, or while the gateway could not read the database. */
    let missed = false;
    /** The last that was sent. With another, any review may look different. */
    let registry: string | null = null;
    const onEvent = (event: InboxEvent): void => {
      setConnection('open');
      if (event.type === 'changed') {
        tell(event.changeId);
        return;
      }
      const { database, temporal, now } = event;
      learnServerTime(now);
      setServices((known) => (sameServices(known, event) ? known : { database, temporal }));
      const moved = registry !== null && event.registry !== null && event.registry !== registry;
      registry = event.registry ?? registry;
      if ((missed && database) || moved) tell(null);
      missed = !database;
    };
    const onLost = (): void => {
      missed = true;
      setConnection('lost');
      // Events end with the session: then the response of 401 leads to the login.
      api.session('page').catch(apiError);
    };
    return keepConnected(onEvent, onLost);
  }, [active]);
  return { connection, services, subscribe };
}

function sameServices(a: Services, b: Services): boolean {
  return a.database === b.database && a.temporal === b.temporal;
}

/** Connects, and again whenever the connection ends or is silent. Returns how to stop. */
function keepConnected(onEvent: (event: InboxEvent) => void, onLost: () => void): () => void {
  let source: EventSource | null = null;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  const lost = (): void => {
    onLost();
    source?.close();
    clearTimeout(silence);
    clearTimeout(retry);
    retry = setTimeout(connect, RETRY_MS);
  };
  const connect = (): void => {
    source = new EventSource(eventsUrl());
    clearTimeout(silence);
    silence = setTimeout(lost, SILENCE_MS);
    source.addEventListener('message', ({ data }: MessageEvent<string>) => {
      clearTimeout(silence);
      silence = setTimeout(lost, SILENCE_MS);
      onEvent(JSON.parse(data) as InboxEvent);
    });
    source.addEventListener('error', lost);
  };
  connect();
  return () => {
    source?.close();
    clearTimeout(silence);
    clearTimeout(retry);
  };
}

/** Calls `read` soon after reviews change, or after the review `only` does; several changes within `settleMs` cause one call. Returns how to stop. */
export function readOnChange(
  subscribe: Live['subscribe'],
  read: () => Promise<void>,
  settleMs: number,
  only: string | null = null,
): () => void {
  const again = throttle(read, settleMs);
  const stop = subscribe((changed) => {
    if (only === null || changed === null || changed === only) again.call();
  });
  return () => {
    stop();
    again.cancel();
  };
}

/** The gateway's time, renewed every second. */
export function useServerNow(): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
