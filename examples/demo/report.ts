import Table from 'cli-table3';
import type { Dev } from '../../dev/start';
import { say } from '../../dev/run-program';
import { CASES } from './cases';

/** How a case ended. */
export interface Row {
  readonly id: number;
  readonly outcome: string;
  readonly reason: string | null;
  readonly mode: string;
  readonly workflowId: string;
  readonly violations: number;
  readonly verified: boolean;
}

/** A table with links to the Temporal UI; with `json` also one line on standard output. */
export function report(rows: readonly Row[], dev: Dev, json: boolean): void {
  const { uiUrl, namespace } = dev.runtime;
  const table = new Table({
    head: ['', 'case', 'outcome', 'reason', 'mode', 'violations', 'receipt'],
    style: { head: [], border: [] },
  });
  for (const row of rows) {
    const title = CASES.find((c) => c.id === row.id)?.title ?? '';
    table.push([
      row.id,
      title,
      row.outcome,
      row.reason ?? '',
      row.mode,
      row.violations,
      row.verified ? 'verified' : 'NOT verified',
    ]);
  }
  say(`\n${table.toString()}\n`);
  if (uiUrl !== undefined)
    for (const row of rows) say(`${row.id}. ${uiUrl}/namespaces/${namespace}/workflows/${row.workflowId}`);
  const [first] = rows;
  say(`\nWhile the servers are running:`);
  say(`  verify a result: npm run cli -- result ${first?.workflowId ?? '<id>'}`);
  say(`  show its ledger: npm run cli -- ledger show ${first?.workflowId ?? '<id>'}`);
  if (json) process.stdout.write(`${JSON.stringify({ cases: rows.map(({ verified: _verified, ...row }) => row) })}\n`);
}

/** Whether all cases ended as the scripted judge and people make them end; says which did not. */
export function endedAsExpected(rows: readonly Row[]): boolean {
  const others = rows.filter((row) => expectedEnd(row) !== ended(row));
  for (const row of others) say(`Case ${row.id}: expected ${expectedEnd(row)}, got ${ended(row)}`);
  return others.length === 0;
}

function expectedEnd(row: Row): string {
  return CASES.find(({ id }) => id === row.id)?.expected ?? '';
}

function ended(row: Row): string {
  return row.reason === null ? row.outcome : `${row.outcome} ${row.reason}`;
}
