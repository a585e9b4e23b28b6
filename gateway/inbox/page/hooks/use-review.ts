import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { parseEvidence } from '../../../../policy/evidence/bundle';
import { verifiedReview, type Difference, type VerifiedReview } from '../../../../signing/verified-review';
import type { InboxTrust } from '../../api';
import { api, apiError, serverNow, type ApiError, type Cause } from '../api-client';
import { changesSince } from '../model/changes-since';
import { readOnChange, useLive } from './use-live';

export type ReviewReading =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly error: ApiError }
  /** What the gateway sent does not verify: nothing of it is shown. */
  | { readonly kind: 'differs'; readonly differences: readonly Difference[]; readonly reported: boolean }
  | {
      readonly kind: 'verified';
      readonly review: VerifiedReview;
      /** What changed since it was first shown, or since the news were dismissed. */
      readonly news: readonly string[];
      /** The last reading failed, so this is an older state. */
      readonly error: ApiError | null;
    };

export interface ReadReview {
  readonly reading: ReviewReading;
  readonly readAgain: (cause: Cause) => Promise<void>;
  readonly dismissNews: () => void;
}

/** An answer appends several rows; they are read together. */
const SETTLE_MS = 150;

/** One review, verified in this browser, and again whenever its rows change. */
export function useReview(changeId: string, trust: InboxTrust, person: string): ReadReview {
  const [reading, setReading] = useState<ReviewReading>({ kind: 'loading' });
  const { subscribe } = useLive();
  const latest = useRef(0);
  const readAgain = useCallback(
    async (cause: Cause) => {
      const turn = ++latest.current;
      const next = await readOnce(changeId, trust, cause);
      if (turn === latest.current) setReading((known) => merged(known, next, person));
    },
    [changeId, trust, person],
  );
  useEffect(() => {
    setReading({ kind: 'loading' });
    void readAgain('person');
    return readOnChange(subscribe, () => readAgain('page'), SETTLE_MS, changeId);
  }, [readAgain, subscribe, changeId]);
  const dismissNews = useCallback(
    () => setReading((known) => (known.kind === 'verified' ? { ...known, news: [] } : known)),
    [],
  );
  return { reading, readAgain, dismissNews };
}

function merged(known: ReviewReading, next: ReviewReading, person: string): ReviewReading {
  if (known.kind !== 'verified') return next;
  if (next.kind === 'failed') return { ...known, error: next.error };
  if (next.kind !== 'verified') return next;
  return { ...next, news: [...known.news, ...changesSince(known.review, next.review, person)] };
}

async function readOnce(changeId: string, trust: InboxTrust, cause: Cause): Promise<ReviewReading> {
  let text: string;
  try {
    text = await api.bundle(changeId, cause);
  } catch (error) {
    return { kind: 'failed', error: apiError(error) };
  }
  const differences = verify(changeId, text, trust);
  if (!Array.isArray(differences)) return { kind: 'verified', review: differences, news: [], error: null };
  return { kind: 'differs', differences, reported: await isReported(changeId, differences, cause) };
}

function verify(changeId: string, text: string, trust: InboxTrust): VerifiedReview | Difference[] {
  const parsed = parseEvidence(text);
  if (!parsed.ok) return [{ name: 'format', detail: parsed.problem }];
  if (parsed.bundle.changeId !== changeId)
    return [{ name: 'changeId', detail: `expected ${changeId}, got ${parsed.bundle.changeId}` }];
  try {
    const verdict = verifiedReview(parsed.bundle, trust, new Date(serverNow()).toISOString());
    return verdict.ok ? verdict.review : [...verdict.differences];
  } catch (error) {
    // Thrown for trusted keys that are malformed: then nothing can be verified.
    if (error instanceof TypeError) return [{ name: 'trust', detail: error.message }];
    throw error;
  }
}

/** Whether the ledger has a row of it. The page refuses the review in any case. */
async function isReported(changeId: string, differences: readonly Difference[], cause: Cause): Promise<boolean> {
  try {
    await api.reportDifferences(changeId, { differences: differences.slice(0, MAX_REPORTED).map(clipped) }, cause);
    return true;
  } catch (error) {
    apiError(error);
    return false;
  }
}

const MAX_REPORTED = 20;
const MAX_DETAIL = 500;

function clipped({ name, detail }: Difference): Difference {
  return { name, detail: detail.slice(0, MAX_DETAIL) };
}
