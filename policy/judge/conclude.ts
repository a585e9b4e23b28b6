import type { Status } from '../contracts/finding';
import type { PolicyRow, WireAnswer } from './wire';

/** The strictest status in one answer. `score` is the share of clear policies; the model does not choose it. */
export interface Conclusion {
  readonly status: Status;
  /** judge_allow, judge_block, judge_warn, judge_abstain, judge_unsure, judge_instructions_in_diff. */
  readonly reasonCode: string;
  readonly score: number;
  /** The rows that are not clear, as answered. */
  readonly raised: readonly PolicyRow[];
}

interface Candidate {
  readonly status: Status;
  readonly reasonCode: string;
}

/** Derives the status of one answer. */
export function conclude(answer: WireAnswer): Conclusion {
  const candidates: Candidate[] = [];
  for (const row of answer.policyResults) {
    if (row.result === 'violated')
      candidates.push({ status: row.severity, reasonCode: row.severity === 'BLOCK' ? 'judge_block' : 'judge_warn' });
    if (row.result === 'unsure') candidates.push({ status: 'WARN', reasonCode: 'judge_unsure' });
  }
  candidates.push(ofVerdict(answer.verdict));
  if (answer.instructionsInDiff) candidates.push({ status: 'WARN', reasonCode: 'judge_instructions_in_diff' });

  const strictest = candidates.reduce((a, b) => (rank(b.status) > rank(a.status) ? b : a));
  const rows = answer.policyResults;
  const clear = rows.filter((row) => row.result === 'clear').length;
  return {
    ...mostSpecific(strictest, candidates),
    score: rows.length === 0 ? 0 : clear / rows.length,
    raised: rows.filter((row) => row.result !== 'clear'),
  };
}

function ofVerdict(verdict: WireAnswer['verdict']): Candidate {
  switch (verdict) {
    case 'ALLOW':
      return { status: 'ALLOW', reasonCode: 'judge_allow' };
    case 'WARN':
      return { status: 'WARN', reasonCode: 'judge_warn' };
    case 'BLOCK':
      return { status: 'BLOCK', reasonCode: 'judge_block' };
    case 'ABSTAIN':
      return { status: 'WARN', reasonCode: 'judge_abstain' };
    default:
      return verdict satisfies never;
  }
}

/** Of the candidates that are as strict as `strictest`, the one with the most informative reason code. */
function mostSpecific(strictest: Candidate, candidates: readonly Candidate[]): Candidate {
  const order = ['judge_instructions_in_diff', 'judge_abstain', 'judge_warn', 'judge_unsure'];
  const equal = candidates.filter((candidate) => candidate.status === strictest.status);
  for (const reasonCode of order) {
    const match = equal.find((candidate) => candidate.reasonCode === reasonCode);
    if (match !== undefined) return match;
  }
  return strictest;
}

const RANK: { readonly [status in Status]: number } = { ALLOW: 0, WARN: 1, BLOCK: 2 };

/** Order of strictness: ALLOW 0, WARN 1, BLOCK 2. */
export function rank(status: Status): number {
  return RANK[status];
}
