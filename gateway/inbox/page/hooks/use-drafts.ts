import { useEffect, useState } from 'preact/hooks';
import type { VerifiedReview } from '../../../../signing/verified-review';
import { EMPTY_DRAFT, parseDrafts, withoutDecisions, withoutRecorded, type Draft, type Drafts } from '../model/drafts';

export interface DraftStore {
  readonly of: (violationId: string) => Draft;
  readonly set: (violationId: string, change: Partial<Draft>) => void;
  readonly remove: (violationIds: readonly string[]) => void;
}

/** Drafts of one person for one review. A new fingerprint drops the decisions and keeps the reasons. */
export function useDrafts(
  person: string,
  { changeId, status: { fingerprint }, answers }: Pick<VerifiedReview, 'changeId' | 'status' | 'answers'>,
): DraftStore {
  const key = `countersign.drafts.${changeId}.${person}`;
  const [drafts, setDrafts] = useState<Drafts>(() => parseDrafts(sessionStorage.getItem(key)));
  const [decidedOn, setDecidedOn] = useState(() => sessionStorage.getItem(`${key}.fingerprint`) ?? fingerprint);
  useEffect(() => {
    if (fingerprint === null || fingerprint === decidedOn) return;
    if (decidedOn !== null) setDrafts(withoutDecisions);
    setDecidedOn(fingerprint);
  }, [fingerprint, decidedOn]);
  useEffect(() => setDrafts((known) => withoutRecorded(known, answers, person)), [answers, person]);
  useEffect(() => {
    sessionStorage.setItem(key, JSON.stringify(drafts));
    if (decidedOn !== null) sessionStorage.setItem(`${key}.fingerprint`, decidedOn);
  }, [key, drafts, decidedOn]);
  return {
    of: (violationId) => drafts[violationId] ?? EMPTY_DRAFT,
    set: (violationId, change) =>
      setDrafts((known) => ({ ...known, [violationId]: { ...(known[violationId] ?? EMPTY_DRAFT), ...change } })),
    remove: (violationIds) =>
      setDrafts((known) => Object.fromEntries(Object.entries(known).filter(([id]) => !violationIds.includes(id)))),
  };
}
