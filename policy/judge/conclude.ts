import type { Status } from '../contracts/finding';
import type { PolicyRow, WireAnswer } from './wire';

/** What an answer means: the strictest of everything that it says. `score` is the share of clear policies, never asked for. */
export interface Conclusion {
  readonly status: Status;
  /** judge_allow, judge_block, judge_warn, judge_abstain, judge_unsure, judge_instructions_in_diff, judge_contradiction. */
  readonly reasonCode: string;
  readonly score: number;
  /** The rows that are not clear, as answered. */
  readonly raised: readonly PolicyRow[];
}

interface Said {
  readonly status: Status;
  readonly reasonCode: string;
}

/** `proseContradicts`: words outside the object say something harder than ALLOW. */
export function conclude(answer: WireAnswer, proseContradicts: boolean): Conclusion {
  const said: Said[] = [];
  for (const row of answer.policyResults) {
    if (row.result === 'violated')
      said.push({ status: row.severity, reasonCode: row.severity === 'BLOCK' ? 'judge_block' : 'judge_warn' });
    if (row.result === 'unsure') said.push({ status: 'WARN', reasonCode: 'judge_unsure' });
  }
  said.push(ofVerdict(answer.verdict));
  if (answer.instructionsInDiff) said.push({ status: 'WARN', reasonCode: 'judge_instructions_in_diff' });
  if (proseContradicts) said.push({ status: 'WARN', reasonCode: 'judge_contradiction' });

  const strictest = said.reduce((a, b) => (rank(b.status) > rank(a.status) ? b : a));
  const rows = answer.policyResults;
  const clear = rows.filter((row) => row.result === 'clear').length;
  return {
    ...prefer(strictest, said),
    score: rows.length === 0 ? 0 : clear / rows.length,
    raised: rows.filter((row) => row.result !== 'clear'),
  };
}

function ofVerdict(verdict: WireAnswer['verdict']): Said {
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

/** Among equally strict things said, the one that tells a reader most stands as the code. */
function prefer(strictest: Said, said: readonly Said[]): Said {
  const order = ['judge_instructions_in_diff', 'judge_abstain', 'judge_warn', 'judge_unsure', 'judge_contradiction'];
  const equal = said.filter((s) => s.status === strictest.status);
  for (const reasonCode of order) {
    const match = equal.find((s) => s.reasonCode === reasonCode);
    if (match !== undefined) return match;
  }
  return strictest;
}

const RANK: { readonly [status in Status]: number } = { ALLOW: 0, WARN: 1, BLOCK: 2 };

export function rank(status: Status): number {
  return RANK[status];
}
