/** The check before a rehearsal: what must not be rehearsed is not executed at all. */
import { executedBy, type Executed } from '../facts/rehearsable';
import { parseStatements } from '../facts/parser';
import { rowsChangedBy } from './bounds';
import type { Guard, NotCaptured } from './capture';
import type { WrittenColumns } from './assigned-columns';
import { inspectCatalog } from './inspect-catalog';
import { OWN_SCHEMA } from './marker';
import type { Session } from './session';
import type { SqlSettings } from '../staging-settings';
import type { Work } from './work';

type Checked =
  { readonly ok: true; readonly columns: WrittenColumns } | { readonly ok: false; readonly outcome: NotCaptured };

/** Statements and catalog. Executes nothing of the change. Rejects with the driver's error. */
export async function checkRehearsable(
  session: Session,
  works: readonly Work[],
  settings: SqlSettings,
): Promise<Checked> {
  const executed = works.flatMap(executedByWork);
  if (executed.some(({ writes }) => writes.some(({ relation }) => relation.schema === OWN_SCHEMA))) {
    const explanation = 'the change writes to a table that belongs to Countersign, which is not allowed';
    return { ok: false, outcome: { kind: 'declined', explanation } };
  }
  const written = new Set(executed.flatMap(({ reasons }) => reasons));
  for (const { moving } of executed)
    for (const name of moving) written.add(`${name}() moves during the dry run; use now(), or only set a column to it`);
  if (written.size > 0) return stopped(works, [...written]);
  const { reasons, columns } = await inspectCatalog(session, executed, settings.maxRehearsedRows);
  return reasons.length > 0 ? stopped(works, reasons) : { ok: true, columns };
}

function executedByWork(work: Work): readonly Executed[] {
  const parsed = parseStatements(work.plain);
  if (!parsed.ok) return [executedBy({}, work.place)];
  return parsed.value.map(({ stmt }) => {
    const executed = executedBy(stmt, work.place);
    const nested = executed.writes.length > (work.target === null ? 0 : 1);
    return nested
      ? { ...executed, reasons: [...executed.reasons, `${work.place}: changes rows inside WITH`] }
      : executed;
  });
}

function stopped(works: readonly Work[], reasons: readonly string[]): Checked {
  return { ok: false, outcome: { kind: 'not_rehearsed', works, reasons } };
}

/** Ends a rehearsal before it changes more than `maxRehearsedRows` rows in total. */
export function rowGuard(session: Session, settings: SqlSettings): Guard {
  const limit = settings.maxRehearsedRows;
  return async (work, rowsSoFar) => {
    if (rowsSoFar > limit) return `it changes more than ${limit} rows`;
    if (work.exactlyOne) return null;
    const rows = await rowsChangedBy(session, work, limit - rowsSoFar);
    if (rows === null)
      return `${work.place}: the number of rows that it changes cannot be determined before it executes`;
    return rowsSoFar + rows > limit ? `${work.place}: it changes more than ${limit} rows` : null;
  };
}
