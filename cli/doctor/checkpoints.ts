import type { Database } from '../../storage/database/database';
import { failed, passed, type Check } from './check';
import { checkOpenTransactions } from './open-transactions';

/** The committer signs a checkpoint each minute while there are new rows. */
const MAX_UNWITNESSED_MS = 5 * 60_000;

/** The newest checkpoint, rows that none covers, and transactions that keep rows from being settled. */
export async function checkCheckpoints(db: Database): Promise<readonly Check[]> {
  return [await checkCoverage(db), ...(await checkOpenTransactions(db))];
}

/** The oldest row of the ledger that no checkpoint covers, and the newest checkpoint. */
async function checkCoverage(db: Database): Promise<Check> {
  const { rows } = await db.query<{ oldest: string | null; newest: Date | null }>(
    `select (select min(l.at) from ledger l
             where l.seq > coalesce((select settled_seq from ledger_checkpoints order by size desc limit 1), 0)
               and not exists (select from ledger_leaves m where m.change_id = l.change_id and m.n = l.n)) as oldest,
            (select max(created_at) from ledger_checkpoints) as newest`,
  );
  const { oldest = null, newest = null } = rows[0] ?? {};
  const last = newest === null ? 'none yet' : newest.toISOString();
  if (oldest === null || Date.now() - Date.parse(oldest) <= MAX_UNWITNESSED_MS)
    return passed('checkpoints', `newest: ${last}`);
  const detail = `rows since ${oldest} have no checkpoint; newest: ${last}`;
  const fix =
    'Start the committer, which signs one each minute, and read its log; then run "countersign ledger verify"';
  return failed('checkpoints', detail, fix);
}
