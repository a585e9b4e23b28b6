import { line, styled, type Printer } from '../printer';

/** One thing that `doctor` checked. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do; null if the check passed. */
  readonly fix: string | null;
}

export function passed(name: string, detail: string): Check {
  return { name, ok: true, detail, fix: null };
}

export function failed(name: string, detail: string, fix: string): Check {
  return { name, ok: false, detail, fix };
}

export function printChecks(out: Printer, checks: readonly Check[]): void {
  for (const check of checks) {
    const [first = '', ...rest] = check.detail.split('\n');
    out.line(line`${check.ok ? styled('green', 'ok  ') : styled('red', 'FAIL')} ${check.name}: ${first}`);
    if (rest.length > 0) out.block(rest.join('\n'), '       ');
    if (check.fix !== null) out.block(check.fix, '       ');
  }
}
