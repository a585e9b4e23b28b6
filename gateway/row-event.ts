import { z } from 'zod';
import { AnswerCode } from '../policy/contracts/answer';
import { HISTORY_DAMAGED, REPAIR_ACTIONS, type RepairAction } from '../policy/contracts/ledger';
import type { RollbackReason, TerminalState } from '../policy/contracts/outcome';
import { JUDGE_CAUSES, type JudgeCause } from '../policy/decide/judge-failure';
import { openEnvelope } from '../policy/evidence/dsse';
import { JudgeRecord } from '../policy/judge/record';
import { jsonOf } from '../policy/text/json-of';
import { Ended } from '../storage/ledger/reviews';
import type { TailedRow } from '../storage/ledger/tail';

/** `failed`: the judge could not answer. `unreadable`: the record cannot be read. */
export const JUDGE_VERDICTS = ['ALLOW', 'WARN', 'BLOCK', 'failed', 'unreadable'] as const;

/** What a row means for the metrics. */
export type RowEvent =
  | { readonly kind: 'answered'; readonly seconds: number | null }
  | { readonly kind: 'refused'; readonly code: AnswerCode | 'other' }
  | { readonly kind: 'ended'; readonly state: TerminalState | 'other'; readonly reason: RollbackReason | 'none' }
  | { readonly kind: 'history_damaged' }
  | { readonly kind: 'repaired'; readonly did: RepairAction | 'other' }
  | {
      readonly kind: 'judged';
      readonly verdict: (typeof JUDGE_VERDICTS)[number];
      readonly cause: JudgeCause | 'other' | null;
      readonly costMicros: number | null;
    }
  | { readonly kind: 'other' };

const Refused = z.object({ code: AnswerCode });
const Damaged = z.object({ check: z.literal(HISTORY_DAMAGED) });
const Repaired = z.object({ did: z.enum(REPAIR_ACTIONS) });
const Attested = z.object({ envelope: z.json() });

export function eventOf({ kind, body, secondsSinceDisclosed }: TailedRow): RowEvent {
  const read = body === null ? null : jsonOf(body);
  switch (kind) {
    case 'answer_accepted':
      return { kind: 'answered', seconds: secondsSinceDisclosed };
    case 'answer_refused':
      return { kind: 'refused', code: Refused.safeParse(read).data?.code ?? 'other' };
    case 'closed': {
      const closed = Ended.safeParse(read).data;
      return { kind: 'ended', state: closed?.state ?? 'other', reason: closed?.reason ?? 'none' };
    }
    case 'refused':
      return { kind: Damaged.safeParse(read).success ? 'history_damaged' : 'other' };
    case 'repaired':
      return { kind: 'repaired', did: Repaired.safeParse(read).data?.did ?? 'other' };
    case 'attested':
      return judgedIn(read);
    default:
      return { kind: 'other' };
  }
}

function judgedIn(body: unknown): RowEvent {
  const unreadable = { kind: 'judged', verdict: 'unreadable', cause: null, costMicros: null } as const;
  const opened = openEnvelope('attested', Attested.safeParse(body).data?.envelope);
  if (!opened.ok) return unreadable;
  const { kind, record } = opened.statement.predicate;
  if (kind !== 'judge') return { kind: 'other' };
  const judged = JudgeRecord.safeParse(record).data;
  if (judged === undefined) return unreadable;
  const { errorClass, status, costMicros } = judged;
  if (errorClass === null) return { kind: 'judged', verdict: status, cause: null, costMicros };
  const cause = JUDGE_CAUSES.find((each) => each === judged.cause) ?? 'other';
  return { kind: 'judged', verdict: 'failed', cause, costMicros };
}
