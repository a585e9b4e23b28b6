import type { Io } from '../action';
import { line, styled } from '../printer';
import type { Backtest } from './backtest';

const COSTLIEST = 10;

/** Prints how many commits are held and the ten costliest rules. */
export function printBacktest(io: Io, { commits, held, forbidden, rules, notEvaluated }: Backtest): void {
  const { out, err } = io;
  out.line(
    line`${styled('bold', `${held} of ${commits} commits held`)} (${percent(held, commits)}), ${forbidden} forbidden`,
  );
  const width = Math.max(0, ...rules.map(({ rule }) => rule.length));
  for (const { rule, commits: count, alone } of rules.slice(0, COSTLIEST))
    out.line(line`  ${rule.padEnd(width)}  holds ${count} (${percent(count, commits)}), alone ${alone}`);
  if (rules.length > COSTLIEST) out.line(`  and ${rules.length - COSTLIEST} other rules; see --json`);
  if (notEvaluated.length > 0)
    err.line(
      line`${notEvaluated.length} commits were not evaluated, the first because ${notEvaluated[0]?.reason ?? ''}`,
    );
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '0 %' : `${Math.round((part / whole) * 1000) / 10} %`;
}
