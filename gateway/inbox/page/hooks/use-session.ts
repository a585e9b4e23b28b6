import { useCallback, useEffect, useState } from 'preact/hooks';
import type { InboxSession } from '../../api';
import { api, ApiError, onUnauthenticated, UNAUTHENTICATED } from '../api-client';

export interface SessionState {
  readonly session: InboxSession | null | 'reading';
  /** Why the last session ended; null at the first visit. */
  readonly why: string | null;
  readonly start: (session: InboxSession) => void;
  readonly end: () => void;
}

/** Who is logged in. A response of 401 to any request ends it; what was typed stays in the session storage. */
export function useSession(): SessionState {
  const [session, setSession] = useState<SessionState['session']>('reading');
  const [why, setWhy] = useState<string | null>(null);
  useEffect(() => {
    onUnauthenticated(() =>
      setSession((known) => {
        if (known !== null && known !== 'reading')
          setWhy('Your session has ended. Log in again; what you typed is kept.');
        return null;
      }),
    );
    api.session().then(setSession, (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      setSession(null);
      if (error.status !== UNAUTHENTICATED) setWhy(error.message);
    });
  }, []);
  const start = useCallback((next: InboxSession) => {
    setWhy(null);
    setSession(next);
  }, []);
  const end = useCallback(() => {
    api.logout().then(
      () => {
        setWhy(null);
        setSession(null);
      },
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        setWhy(`You may still be logged in: ${error.message}`);
        setSession(null);
      },
    );
  }, []);
  return { session, why, start, end };
}
