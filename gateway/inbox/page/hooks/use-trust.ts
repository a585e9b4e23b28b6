import { useEffect, useState } from 'preact/hooks';
import type { InboxTrust } from '../../api';
import { api, apiError } from '../api-client';
import { trustFingerprint } from '../trust-fingerprint';
import type { Live } from './use-live';

/** The keys that this gateway says it trusts, and the fingerprint that this browser remembers of them. */
export interface Trust {
  readonly keys: InboxTrust;
  readonly fingerprint: string;
  /** The fingerprint of the last visit, if it differs. */
  readonly before: string | null;
  /** Accepts the new keys, after the person has compared them. */
  readonly accept: () => void;
}

const REMEMBERED = 'countersign.trust';

/** Null until they are read; a text says why they could not be. A gateway that was started again can name others. */
export function useTrust(active: boolean, subscribe: Live['subscribe']): Trust | string | null {
  const [trust, setTrust] = useState<InboxTrust | string | null>(null);
  const [remembered, setRemembered] = useState(() => localStorage.getItem(REMEMBERED));
  const fingerprint = trust === null || typeof trust === 'string' ? null : trustFingerprint(trust);
  useEffect(() => {
    if (!active || (trust !== null && typeof trust !== 'string')) return undefined;
    const read = (): void => {
      api.trust().then(setTrust, (error: unknown) => setTrust(apiError(error).message));
    };
    read();
    const timer = setInterval(read, RETRY_MS);
    return () => clearInterval(timer);
  }, [active, trust]);
  useEffect(() => {
    if (!active) return undefined;
    return subscribe((changed) => {
      if (changed !== null) return;
      // Without an answer the keys stay, and the page shows its connection.
      api.trust().then((next) => setTrust((known) => (isSame(known, next) ? known : next)), apiError);
    });
  }, [active, subscribe]);
  useEffect(() => {
    if (fingerprint === null || remembered !== null) return;
    localStorage.setItem(REMEMBERED, fingerprint);
    setRemembered(fingerprint);
  }, [fingerprint, remembered]);
  if (trust === null || typeof trust === 'string' || fingerprint === null)
    return typeof trust === 'string' ? trust : null;
  return {
    keys: trust,
    fingerprint,
    before: remembered !== null && remembered !== fingerprint ? remembered : null,
    accept: () => {
      localStorage.setItem(REMEMBERED, fingerprint);
      setRemembered(fingerprint);
    },
  };
}

const RETRY_MS = 5000;

function isSame(known: InboxTrust | string | null, next: InboxTrust): boolean {
  return JSON.stringify(known) === JSON.stringify(next);
}
