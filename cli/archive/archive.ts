import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { parseEvidence } from '../../policy/evidence/bundle';
import { verifyEvidence, type EvidenceTrust } from '../../signing/verify-evidence';
import { withDatabase } from '../../storage/database/database';
import { deleteDiffs, dueReviews, type DueReview } from '../../storage/store/retention';
import type { Env } from '../../workers/config';
import { localClient, type LocalClient } from '../../workers/local-client';
import { exportBundle } from '../evidence/bundles';
import { privateDirectory, writePrivate } from '../init/private-directory';
import { withTemporal } from '../temporal';

/** A query reads every `submitted` row. */
const STATEMENT_TIMEOUT_MS = 300_000;
const HISTORY_TIMEOUT_MS = 15_000;

export interface ArchiveRequest {
  /** Reviews that closed before it are archived. */
  readonly before: Date;
  readonly dir: string;
  readonly limit: number;
}

export interface Archived {
  /** Reviews whose evidence was verified and is in the directory. */
  readonly archived: readonly string[];
  /** Reviews whose evidence could not be verified. Nothing of them was deleted. */
  readonly kept: readonly { readonly changeId: string; readonly problem: string }[];
  readonly deletedDiffs: number;
  readonly deletedHistories: number;
}

/**
 * Exports the evidence of closed reviews to a directory, verifies what was written, then deletes their histories from Temporal and
 * their diffs from the store. Rows of the ledger stay. A run that was interrupted can be repeated.
 */
export async function archiveReviews(
  env: Env,
  request: ArchiveRequest,
  log: (text: string) => void,
): Promise<Archived> {
  const local = localClient(env);
  const trust = { operators: local.operators, committers: local.committers };
  privateDirectory(request.dir);
  // The role of the operator alone may delete diffs.
  const database = {
    url: local.operatorDatabaseUrl,
    applicationName: 'countersign-archive',
    max: 1,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  };
  return await withDatabase(database, async (db) => {
    // A no-op that fails, before anything is exported or deleted, if the role may not delete diffs.
    await deleteDiffs(db, []);
    const due = await dueReviews(db, request.before, request.limit);
    const kept: { changeId: string; problem: string }[] = [];
    const stored: DueReview[] = [];
    for (const review of due) {
      const problem = await exportVerified(env, review, request.dir, trust, log);
      if (problem === null) stored.push(review);
      else kept.push({ changeId: review.changeId, problem });
    }
    const archived = stored.map(({ changeId }) => changeId);
    // Before the diffs: a review without a stored diff is not due again, and its history would stay.
    const deletedHistories = await deleteHistories(env, local, archived);
    const deletedDiffs = await deleteDiffs(db, stored);
    return { archived, kept, deletedDiffs, deletedHistories };
  });
}

/** Null if the file of the review contains its verified evidence with the diff; otherwise the reason why not. */
async function exportVerified(
  env: Env,
  { changeId }: DueReview,
  dir: string,
  trust: EvidenceTrust,
  log: (text: string) => void,
): Promise<string | null> {
  const path = join(dir, `${changeId}.json`);
  // The file exists if an earlier run was interrupted before it deleted the diff.
  const text = existsSync(path) ? readFileSync(path, 'utf8') : await exportBundle(env, changeId, { bytes: true }, log);
  const problem = problemOf(text, changeId, trust);
  if (problem !== null) return existsSync(path) ? `${path}: ${problem}` : problem;
  writePrivate(path, text);
  return problemOf(readFileSync(path, 'utf8'), changeId, trust);
}

function problemOf(text: string, changeId: string, trust: EvidenceTrust): string | null {
  const report = verifyEvidence(text, trust);
  if (report.changeId !== changeId)
    return `expected the evidence of ${changeId}, got that of ${report.changeId ?? 'an unknown change'}`;
  if (report.verdict !== 'verified') return `the evidence is ${report.verdict}`;
  if (!report.witnessed) return 'no checkpoint covers its rows yet';
  const parsed = parseEvidence(text);
  return parsed.ok && parsed.bundle.bytes !== null ? null : 'the evidence does not contain the diff';
}

/** Deletes every closed run of these workflows. Returns the number of runs. */
async function deleteHistories(env: Env, local: LocalClient, changeIds: readonly string[]): Promise<number> {
  return await withTemporal(env, local, async (client) => {
    let deleted = 0;
    for (const changeId of changeIds)
      deleted += await client.withDeadline(Date.now() + HISTORY_TIMEOUT_MS, () => deleteRuns(client, changeId));
    return deleted;
  });
}

async function deleteRuns(client: Client, workflowId: string): Promise<number> {
  let deleted = 0;
  for await (const { runId, status } of client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) {
    if (status.name === 'RUNNING') continue;
    await client.workflowService.deleteWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId, runId },
    });
    deleted += 1;
  }
  return deleted;
}
