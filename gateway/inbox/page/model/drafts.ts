import { Decision, type AdmittedAnswer } from '../../../../policy/contracts/answer';
import { lastWords } from '../../../../policy/decide/last-words';
import { jsonOf } from '../../../../policy/text/json-of';

/** What a person has chosen and typed, and not sent. Kept per person and review in the session storage, so that a reload loses nothing. */
export interface Draft {
  /** Null: not made yet. */
  readonly decision: Decision | null;
  readonly reason: string;
}

/** By violation id. */
export type Drafts = Readonly<Record<string, Draft>>;

export const EMPTY_DRAFT: Draft = { decision: null, reason: '' };

export function parseDrafts(stored: string | null): Drafts {
  if (stored === null) return {};
  const value = jsonOf(stored);
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([id, draft]) => (isDraft(draft) && /^[0-9a-f]{64}$/.test(id) ? [[id, draft]] : [])),
  );
}

function isDraft(value: unknown): value is Draft {
  if (typeof value !== 'object' || value === null) return false;
  const { decision, reason } = value as Partial<Draft>;
  return typeof reason === 'string' && (decision === null || Decision.safeParse(decision).success);
}

/** A review that was disclosed again asks again: decisions are dropped, reasons are kept. */
export function withoutDecisions(drafts: Drafts): Drafts {
  return Object.fromEntries(Object.entries(drafts).map(([id, { reason }]) => [id, { decision: null, reason }]));
}

/** Without drafts that are an answer that counts: the page did not receive what became of them. */
export function withoutRecorded(drafts: Drafts, answers: readonly AdmittedAnswer[], person: string): Drafts {
  const recorded = lastWords(answers).flatMap(({ violationId, person: who, decision, reason }) => {
    const draft = drafts[violationId];
    return who === person && draft?.decision === decision && draft.reason.trim() === reason ? [violationId] : [];
  });
  return recorded.length === 0
    ? drafts
    : Object.fromEntries(Object.entries(drafts).filter(([id]) => !recorded.includes(id)));
}

/** Why a draft cannot be sent; null if it can. */
export function draftProblem({ decision, reason }: Draft): string | null {
  if (decision === 'reject' && reason.trim() === '') return 'A rejection needs a reason';
  return reason.length > MAX_REASON ? `A reason has at most ${MAX_REASON} characters` : null;
}

/** In UTF-16 code units, as the statement allows. */
export const MAX_REASON = 2000;
