import { temporal } from '@temporalio/proto';
import type { Cluster } from './cluster';
import { ledgersIn, markersIn } from '../stored-facts';
import type { ReviewDriver } from './review-driver';
import type { Body, Observed } from './rules/review';
import { EFFECTS_SQL, fileOf, resourceOf, tableOf, TABLES } from './scenarios';

const GIT_MARKERS = 'refs/countersign/changes/';
const { WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW } = temporal.api.enums.v1.WorkflowTaskFailedCause;

/** What a target shows of a change. */
type InTarget = Pick<Observed, 'effects' | 'marker' | 'writtenAt'>;

/** Reads target, ledger and histories directly as a superuser, without production code. */
export async function observe(cluster: Cluster, drives: readonly ReviewDriver[]): Promise<Observed[]> {
  const inTarget = new Map([...(await inSql(cluster, drives)), ...inGit(cluster, drives), ...inApi(cluster, drives)]);
  const linesOf = await ledgersIn(
    cluster.database,
    drives.map((drive) => drive.changeId),
  );
  const observed: Observed[] = [];
  for (const { changeId } of drives) {
    observed.push({
      changeId,
      ...(inTarget.get(changeId) ?? { effects: -1, marker: null, writtenAt: null }),
      ledger: linesOf.get(changeId) ?? [],
      workflow: await workflowOf(cluster, changeId),
    });
  }
  return observed;
}

async function inSql({ target }: Cluster, drives: readonly ReviewDriver[]): Promise<[string, InTarget][]> {
  const found: [string, InTarget][] = [];
  for (const table of new Set(Object.values(TABLES))) {
    const ofTable = drives.filter((drive) => tableOf(drive.of.scenario) === table);
    const { rows } = await target.query<{ id: number; effects: number }>(EFFECTS_SQL(table), [
      ofTable.map((d) => d.row),
    ]);
    const effects = new Map(rows.map((row) => [row.id, row.effects]));
    const ids = ofTable.map(({ changeId }) => changeId);
    const markers = await markersIn(target, ids);
    for (const { changeId, row } of ofTable) {
      const marker = markers.get(changeId) ?? null;
      found.push([changeId, { effects: effects.get(row) ?? -1, marker, writtenAt: marker?.at ?? null }]);
    }
  }
  return found;
}

function inGit(cluster: Cluster, drives: readonly ReviewDriver[]): [string, InTarget][] {
  const { git } = cluster.repository;
  const markers = gitMarkers(cluster);
  const movedAt = branchMoves(cluster);
  const ofGit = drives.filter(({ of }) => of.scenario === 'git' || of.scenario === 'git_stale');
  return ofGit.map(({ changeId, row }) => {
    const commits = git('rev-list', 'main', '--', fileOf(row)).split('\n').filter(Boolean);
    const marker = markers.get(changeId);
    const effect = marker?.['state'] === 'sealed' ? { sealed: true } : (marker?.['effect'] as Body);
    return [
      changeId,
      {
        effects: commits.length,
        marker: marker === undefined ? null : { effect },
        writtenAt: movedAt.get(commits[0] ?? '') ?? null,
      },
    ];
  });
}

/** When the branch moved to each commit, from its log, which counts whole seconds. The date of a commit is the one of its intent. */
function branchMoves({ repository }: Cluster): ReadonlyMap<string, Date> {
  const lines = repository.git('log', '--walk-reflogs', '--date=unix', '--format=%H %gd', 'main').split('\n');
  return new Map(
    lines.flatMap((line) => {
      const [, commit = '', seconds] = /^([0-9a-f]+) .*@\{(\d+)\}$/.exec(line) ?? [];
      return seconds === undefined ? [] : [[commit, new Date(Number(seconds) * 1000 + 999)] as const];
    }),
  );
}

function inApi({ api, apiWrites }: Cluster, drives: readonly ReviewDriver[]): [string, InTarget][] {
  const ofApi = drives.filter(({ of }) => of.scenario === 'http' || of.scenario === 'http_stale');
  return ofApi.map(({ changeId, row }) => {
    const { pathname } = new URL(resourceOf(api.url, row));
    const writes = apiWrites.filter(({ path }) => path === pathname);
    return [changeId, { effects: writes.length, marker: 'not kept', writtenAt: writes[0]?.at ?? null }];
  });
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
