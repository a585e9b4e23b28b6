import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { CountersignError, messageOf } from '../../client/errors';
import { CountersignFailure } from '../../policy/contracts/failure';
import { parseEvidence, type HistoryDigest } from '../../policy/evidence/bundle';
import { verifyEvidence, type EvidenceTrust } from '../../signing/verify-evidence';
import { withDatabase } from '../../storage/database/database';
import {
  deleteDiffs,
  deleteJudgeAnswers,
  deleteUnopened,
  dueReviews,
  type DueReview,
} from '../../storage/store/retention';
import type { Env } from '../../workers/config';
import { localClient } from '../../workers/local-client';
import { OutageWatch, readFailure } from '../../workers/replay/outage';
import { exportBundle } from '../evidence/bundles';
import { historyDigest } from '../evidence/history-digest';
import { privateDirectory, writePrivate } from '../private-files';
import { withTemporal } from '../temporal';
import { deleteHistories, HISTORY_TIMEOUT_MS, removeLeftovers } from './delete';

/** A query reads every `submitted` row. */
const STATEMENT_TIMEOUT_MS = 300_000;

export interface ArchiveRequest {
  /** Reviews that closed before it are archived. */
  readonly before: Date;
  readonly dir: string;
  /** Most reviews that one run archives. */
  readonly limit: number;
}

export interface Archived {
  /** Reviews whose evidence was verified and is in the directory, and that no earlier run has finished. */
  readonly archived: readonly string[];
  /** Reviews that could not be archived. Nothing of them was deleted. */
  readonly kept: readonly { readonly changeId: string; readonly problem: string }[];
  readonly deletedDiffs: number;
  readonly deletedHistories: number;
}

interface Run {
  readonly env: Env;
  readonly dir: string;
  readonly trust: EvidenceTrust;
  readonly temporal: Client;
  readonly outage: OutageWatch;
  readonly log: (text: string) => void;
}

/**
 * Exports the evidence of closed reviews to a directory, verifies what was written, then deletes their histories from Temporal and
 * their diffs from the store, except diffs that another review needs. Diffs that were uploaded before, and that no opened review has, are
 * deleted too, and answers of the judge that were stored to be used again. Rows of the ledger stay. A run that was interrupted can be repeated. Throws if Temporal does not answer.
 */
export async function archiveReviews(
  env: Env,
  request: ArchiveRequest,
  log: (text: string) => void,
): Promise<Archived> {
  const local = localClient(env);
  const trust = { operators: local.operators, committers: local.committers };
  const { dir, before, limit } = request;
  privateDirectory(dir);
  removeLeftovers(dir);
  // The role of the operator alone may delete diffs.
  const database = {
    url: local.operatorDatabaseUrl,
    applicationName: 'countersign-archive',
    max: 1,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  };
  return await withDatabase(database, (db) =>
    withTemporal(env, local, async (temporal) => {
      // A no-op that fails, before anything is exported or deleted, if the role may not delete diffs.
      await deleteDiffs(db, []);
      await deleteJudgeAnswers(db, before);
      const run: Run = { env, dir, trust, temporal, outage: new OutageWatch(), log };
      const { stored, archived, kept } = await exportDue(run, dueReviews(db, before), limit);
      // Before the diffs: a review without a stored diff is not due again, and its history would stay.
      const deletedHistories = await deleteHistories(temporal, stored);
      const deletedDiffs = (await deleteDiffs(db, stored)) + (await deleteUnopened(db, before));
      return { archived, kept, deletedDiffs, deletedHistories };
    }),
  );
}

/** Exports until `limit` reviews are archived. A review that an earlier run archived, or that is kept, does not count. */
async function exportDue(
  run: Run,
  due: AsyncIterable<DueReview>,
  limit: number,
): Promise<Pick<Archived, 'archived' | 'kept'> & { readonly stored: readonly DueReview[] }> {
  const stored: DueReview[] = [];
  const archived: string[] = [];
  const kept: { changeId: string; problem: string }[] = [];
  for await (const review of due) {
    const done = await exportVerified(run, review);
    if (done.problem === null) {
      stored.push(review);
      if (done.isNew) archived.push(review.changeId);
      if (archived.length === limit) break;
    } else kept.push({ changeId: review.changeId, problem: done.problem });
  }
  run.outage.end();
  return { stored, archived, kept };
}

interface Exported {
  /** Why the review is kept; null if the file contains its verified evidence with the diff and the digest of its history. */
  readonly problem: string | null;
  /** The file was written, or its review still has a history. */
  readonly isNew: boolean;
}

async function exportVerified({ env, dir, trust, temporal, outage, log }: Run, review: DueReview): Promise<Exported> {
  const { changeId } = review;
  const path = join(dir, `${changeId}.json`);
  let history: HistoryDigest | null;
  try {
    const running = await isRunning(temporal, changeId);
    history = running ? null : await historyDigest(temporal, changeId);
    outage.answered();
    // The ledger has the end before Temporal does, and an incomplete history has another digest.
    if (running) return { problem: 'its workflow is still running; repeat later', isNew: false };
  } catch (error) {
    const failure = readFailure(error);
    outage.failed(failure);
    return { problem: `its history could not be read: ${failure.why}`, isNew: false };
  }
  // The file exists if an earlier run was interrupted, or if another review needs the diff.
  const existed = existsSync(path);
  const isNew = !existed || history !== null;
  let text: string;
  try {
    text = existed ? readFileSync(path, 'utf8') : await exportBundle(env, changeId, { bytes: true, history }, log);
  } catch (error) {
    const why = unreadableEvidence(error);
    if (why === null) throw error;
    return { problem: `its evidence cannot be exported: ${why}`, isNew };
  }
  const problem = problemOf(text, changeId, trust, history);
  if (problem !== null) return { problem: existed ? `${path}: ${problem}` : problem, isNew };
  writePrivate(path, text);
  return { problem: problemOf(readFileSync(path, 'utf8'), changeId, trust, history), isNew };
}

/** Why the data of this review is not what was recorded, or cannot be decrypted here. Null for other errors, which stop the export. */
function unreadableEvidence(error: unknown): string | null {
  // The message of the parser contains a part of the row.
  if (error instanceof SyntaxError) return 'a row of it is not valid JSON';
  const isOfThisReview =
    (error instanceof CountersignError && error.code === 'not_verified') ||
    (error instanceof CountersignFailure && error.nonRetryable);
  return isOfThisReview ? messageOf(error) : null;
}

async function isRunning(temporal: Client, changeId: string): Promise<boolean> {
  try {
    const found = await temporal.withDeadline(Date.now() + HISTORY_TIMEOUT_MS, () =>
      temporal.workflow.getHandle(changeId).describe(),
    );
    return found.status.name === 'RUNNING';
  } catch (error) {
    // A history that was deleted. Other errors stop the export.
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

function problemOf(text: string, changeId: string, trust: EvidenceTrust, history: HistoryDigest | null): string | null {
  const report = verifyEvidence(text, trust);
  if (report.changeId !== changeId)
    return `expected the evidence of ${changeId}, got that of ${report.changeId ?? 'an unknown change'}`;
  if (report.verdict !== 'verified') return `the evidence is ${report.verdict}`;
  if (!report.witnessed) return 'no checkpoint covers its rows yet';
  const parsed = parseEvidence(text);
  if (!parsed.ok || parsed.bundle.bytes === null) return 'the evidence does not contain the diff';
  // A history that Temporal no longer has cannot be lost.
  return history === null || parsed.bundle.history?.sha256 === history.sha256
    ? null
    : 'the evidence does not contain the digest of the history that Temporal has; move the file away and repeat';
}
