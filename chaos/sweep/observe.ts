import { temporal } from '@temporalio/proto';
import type { Cluster } from './cluster';
import { ledgersIn, markersIn } from '../stored-facts';
import type { Observed } from './check';
import type { ReviewDriver } from './review-driver';
import { EFFECTS_SQL, fileOf, resourceOf, tableOf, TABLES } from './scenarios';

const GIT_MARKERS = 'refs/countersign/changes/';
const { WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW } = temporal.api.enums.v1.WorkflowTaskFailedCause;

/** Reads target, ledger and histories directly as a superuser, without production code. */
export async function observe(cluster: Cluster, drives: readonly ReviewDriver[]): Promise<Observed[]> {
  const ids = drives.map((drive) => drive.changeId);
  const effects = new Map<string, number>();
  for (const table of new Set(Object.values(TABLES))) {
    const ofTable = drives.filter((drive) => tableOf(drive.of.scenario) === table);
    const { rows } = await cluster.target.query<{ id: number; effects: number }>(EFFECTS_SQL(table), [
      ofTable.map((d) => d.row),
    ]);
    const byRow = new Map(rows.map((row) => [row.id, row.effects]));
    for (const drive of ofTable) effects.set(drive.changeId, byRow.get(drive.row) ?? -1);
  }
  const markerOf = await markersIn(cluster.target, ids);
  const inGit = gitMarkers(cluster);
  for (const { changeId, row, of } of drives) {
    if (of.scenario === 'git' || of.scenario === 'git_stale') {
      effects.set(changeId, Number(cluster.repository.git('rev-list', '--count', 'main', '--', fileOf(row))));
      const marker = inGit.get(changeId);
      if (marker === undefined) continue;
      const effect = marker['state'] === 'sealed' ? { sealed: true } : (marker['effect'] as Record<string, unknown>);
      markerOf.set(changeId, { effect, at: null });
    } else if (of.scenario === 'http' || of.scenario === 'http_stale') {
      effects.set(changeId, writesTo(cluster, row));
      markerOf.set(changeId, 'not kept');
    }
  }
  const linesOf = await ledgersIn(cluster.database, ids);
  const observed: Observed[] = [];
  for (const { changeId } of drives) {
    observed.push({
      changeId,
      effects: effects.get(changeId) ?? -1,
      marker: markerOf.get(changeId) ?? null,
      ledger: linesOf.get(changeId) ?? [],
      workflow: await workflowOf(cluster, changeId),
    });
  }
  return observed;
}

/** Rows, markers and ledgers that belong to no submitted change, as violations. */
export async function unknownChanges(cluster: Cluster, drives: readonly ReviewDriver[]): Promise<string[]> {
  const ids = drives.map((drive) => drive.changeId);
  const found: string[] = [];
  const marker = await cluster.target.query('select 1 from countersign.marker where change_id <> all($1)', [ids]);
  const inGit = [...gitMarkers(cluster).keys()].filter((id) => !ids.includes(id));
  const unknown = marker.rows.length + inGit.length;
  if (unknown > 0) found.push(`K2: ${unknown} markers of unknown changes`);
  const ledger = await cluster.database.query('select distinct change_id from ledger where change_id <> all($1)', [
    ids,
  ]);
  if (ledger.rows.length > 0) found.push(`K5: ${ledger.rows.length} ledgers of unknown changes`);
  for (const table of new Set(Object.values(TABLES))) {
    const expected = drives.filter((drive) => tableOf(drive.of.scenario) === table).map((drive) => drive.row);
    const { rows } = await cluster.target.query(`select 1 from ${table} where cents <> 500 and id <> all($1)`, [
      expected,
    ]);
    if (rows.length > 0) found.push(`K1: ${rows.length} rows of ${table} were written without a change`);
  }
  return found;
}

/** Contents of the markers in git, by change id. */
function gitMarkers({ repository }: Cluster): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
  const refs = repository.git('for-each-ref', '--format=%(refname)', GIT_MARKERS).split('\n');
  return new Map(
    refs
      .filter((ref) => ref !== '')
      .map((ref) => [
        ref.slice(GIT_MARKERS.length),
        JSON.parse(repository.git('cat-file', 'blob', ref)) as Readonly<Record<string, unknown>>,
      ]),
  );
}

/** How many writes to the row's resource the API has applied. */
function writesTo({ api }: Cluster, row: number): number {
  const { pathname } = new URL(resourceOf(api.url, row));
  return api.applied.filter((path) => path === pathname).length;
}

async function workflowOf(cluster: Cluster, changeId: string): Promise<Observed['workflow']> {
  const handle = cluster.temporal.workflow.getHandle(changeId);
  const [{ status }, { events }] = await Promise.all([handle.describe(), handle.fetchHistory()]);
  const data = events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result?.payloads?.[0]?.data;
  const outcome = data == null ? null : (JSON.parse(Buffer.from(data).toString('utf8')) as Record<string, unknown>);
  const resets = (events ?? []).filter(
    ({ workflowTaskFailedEventAttributes: failed }) => failed?.cause === WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
  );
  return { status: status.name, outcome, resets: resets.length };
}
