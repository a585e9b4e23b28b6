import type { Io } from '../action';
import { line, styled } from '../printer';
import type { Check } from './check';

export function printChecks(io: Io, checks: readonly Check[]): void {
  for (const check of checks) {
    const [first = '', ...rest] = check.detail.split('\n');
    io.out.line(line`${check.ok ? styled('green', 'ok  ') : styled('red', 'FAIL')} ${check.name}: ${first}`);
    if (rest.length > 0) io.out.block(rest.join('\n'), '       ');
    if (check.fix !== null) io.out.block(check.fix, '       ');
  }
}
