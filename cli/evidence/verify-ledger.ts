import { type Database, withDatabase } from '../../storage/database/database';
import { inclusionReader } from '../../storage/ledger/inclusion';
import { createLedger } from '../../storage/ledger/ledger';
import { verifyLedger } from '../../storage/ledger/verify-ledger';
import { CountersignError, messageOf } from '../../client/errors';
import { verifyChain } from '../../policy/evidence/chain';
import type { LedgerReport } from '../../policy/evidence/reports';
import { checkInclusion } from '../../signing/verify-review/rows';
import { committerKeys } from '../../signing/committer-keys';
import type { Env } from '../../workers/config';
import { localClient, type LocalClient } from '../../workers/local-client';

/** Checks chains and checkpoints of one change, or of all if `changeId` is null, with the database role of the gateway. */
export async function verifyLedgerRows(
  env: Env,
  changeId: string | null,
  progress: (rows: number) => void,
): Promise<LedgerReport> {
  const local = localClient(env);
  return await withEvidenceDatabase(local, (db) =>
    changeId === null
      ? verifyLedger(db, { keys: committerKeys(local.committers), development: true, progress })
      : verifyChange(db, changeId, local.committers),
  );
}

/** Opens the database for reads of evidence, which may take long. */
export async function withEvidenceDatabase<T>(local: LocalClient, work: (db: Database) => Promise<T>): Promise<T> {
  const options = { applicationName: 'countersign-evidence', max: 2, statementTimeoutMs: 60_000 };
  return await withDatabase({ url: local.databaseUrl, ...options }, work);
}

/** Verifies the chain of one change, that each leaf has its row, and, if a checkpoint covers the rows, its signature over all of them. */
async function verifyChange(db: Database, changeId: string, committers: readonly string[]): Promise<LedgerReport> {
  // Read before the rows, so that each leaf has its row.
  const { rows: leaves } = await db.query<{ n: number }>(
    'select n from ledger_leaves where change_id = $1 order by n',
    [changeId],
  );
  const rows = await createLedger(db).read(changeId);
  if (rows.length === 0) throw new CountersignError('not_found', `The ledger has no review ${changeId}`);
  const chain = verifyChain(rows);
  const problems = chain.ok ? [] : [`row ${chain.n}: ${chain.problem}`];
  const cut = leaves.filter(({ n }) => n >= rows.length);
  problems.push(...cut.map(({ n }) => `row ${n}: the row has a leaf but is missing`));
  const inclusion = await inclusionReader(db).covering(changeId, rows.length);
  if (inclusion !== null) {
    try {
      checkInclusion(rows, inclusion, committers);
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  return {
    ok: problems.length === 0,
    rows: rows.length,
    changes: 1,
    checkpoints: inclusion === null ? 0 : 1,
    uncovered: inclusion === null ? rows.length : 0,
    problems,
    problemCount: problems.length,
  };
}
