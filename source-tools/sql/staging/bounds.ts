/**
 * How many rows a statement would change, before it executes.
 *
 * N1 The planner's estimate is read first. It costs nothing, and stops a change of many rows without a scan.
 * N2 Then the rows are counted with the statement's own FROM and WHERE, up to the limit, because an estimate may be wrong.
 *    Without such a query (source-query.ts) the number is unknown.
 */
import { onlyStatement } from '../facts/tree';
import type { Session } from './session';
import { sourceQuery } from './source-query';
import type { Work } from './work';

/** An estimate above the limit by this factor is accepted without counting. */
const ESTIMATE_FACTOR = 2;

/** Returns the number of rows, or at least `limit + 1` if there are more; null if it is unknown. Rejects with the driver's error. */
export async function rowsChangedBy(session: Session, work: Work, limit: number): Promise<number | null> {
  const statement = onlyStatement(work.plain);
  if (statement === null) return null;
  if (statement.type === 'SelectStmt') return 0;
  const [row] = await session.rows(`EXPLAIN (FORMAT JSON)\n${work.plain}`, work.values);
  const estimate = estimatedRows((JSON.parse(row?.[0] ?? '[]') as { Plan?: PlanNode }[])[0]?.Plan);
  if (estimate > limit * ESTIMATE_FACTOR) return estimate;
  const query = sourceQuery(work.plain, statement);
  if (query === null || typeof query === 'number') return query;
  const [counted] = await session.rows(
    `${query.with} SELECT pg_catalog.count(*) FROM (SELECT 1 ${query.from}\nLIMIT ${limit + 1}) AS counted`,
  );
  return Number(counted?.[0]);
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Plan Rows': number;
  readonly 'Parent Relationship'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Rows that all ModifyTable nodes of a plan read from their source. */
function estimatedRows(plan: PlanNode | undefined): number {
  if (plan === undefined) return Number.POSITIVE_INFINITY;
  const children = plan.Plans ?? [];
  const below = children.reduce((sum, each) => sum + estimatedRows(each), 0);
  if (plan['Node Type'] !== 'ModifyTable') return below;
  return children.reduce((sum, each) => sum + (each['Parent Relationship'] === 'Outer' ? each['Plan Rows'] : 0), below);
}
