import { useCallback, useEffect, useState } from 'preact/hooks';
import type { InboxSession } from '../../api';
import { api, apiError, onUnauthenticated, UNAUTHENTICATED } from '../api-client';

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
    api.session('person').then(setSession, (error: unknown) => {
      const { status, message } = apiError(error);
      setSession(null);
      if (status !== UNAUTHENTICATED) setWhy(message);
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
        setWhy(`You may still be logged in: ${apiError(error).message}`);
        setSession(null);
      },
    );
  }, []);
  return { session, why, start, end };
}
