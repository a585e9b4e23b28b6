import { startWorker } from '../../dev/start-worker';
import { temporalEnv } from '../support/system-env';
import { testWorkflowBundle } from '../support/test-workflow-bundle';
import type { SubmitInput } from '../../client/submission';
import type { ReviewStatus } from '../../policy/contracts/status';
import type { System } from '../support/system';

type Change = Omit<SubmitInput, 'target'>;

export const update = (raw: string, table: string, rows: number): Change => ({
  sourceTool: 'SQLDryRun',
  raw,
  metadata: { table_name: table, affected_rows: rows },
});

/** A word in rows and diffs that must not occur in any history. */
export const SECRET = 'Zebra7719';

export const NARROW = update(`update items set name = '${SECRET} lamp', stock = 11 where id = 1`, 'items', 1);
/** Has no WHERE and exceeds the row limit: two violations. */
export const WHOLE_TABLE = update('update accounts set balance = balance + 1', 'accounts', 30);
export const HIDDEN_DROP: Change = {
  sourceTool: 'SQLDryRun',
  raw: `do $$ begin execute E'dr\\x6fp table acc' || 'ounts'; end $$`,
  metadata: { table_name: 'accounts' },
};
export const PRICE = (id: number, version: number, cents: number): Change => ({
  sourceTool: 'SQLCAS',
  raw: JSON.stringify({
    rows: [{ table: 'public.prices', key: { id }, expect: { version }, set: { cents, version: version + 1 } }],
  }),
  metadata: { table_name: 'prices', affected_rows: 1 },
});
export const CONCERN = update(`update items set name = 'judge_concern ${SECRET}' where id = 3`, 'items', 1);
export const SILENT_JUDGE = update(`update items set name = 'judge_401 ${SECRET}' where id = 4`, 'items', 1);
export const DRAFT = update(`update drafts set body = '${SECRET}' where id = 2`, 'drafts', 1);
export const VAULT = update(`update vault set body = 'open' where id = 2`, 'vault', 1);
export const REFUND: Change = {
  sourceTool: 'Refund',
  raw: JSON.stringify({ order: 7, cents: 100, note: SECRET }),
  metadata: { table_name: 'refunds' },
};

/** A change with one violation that needs a person. */
export const waitingPrice = (id: number, cents = 600): Change => PRICE(id, 1, cents);

export function humanViolations(status: ReviewStatus): string[] {
  return status.violations.filter((v) => v.need === 'human').map((v) => v.violationId);
}

/** Produces each outcome; resolves with the change id once the review has ended. */
export const SCENARIOS: Readonly<Record<string, (system: System) => Promise<string>>> = {
  committed: async (system) => {
    const { changeId } = await system.submit(NARROW);
    await system.ended(changeId);
    return changeId;
  },
  confirmed: async (system) => {
    const { changeId } = await system.submit(WHOLE_TABLE);
    const status = await system.waiting(changeId);
    const [first = '', ...others] = humanViolations(status);
    await system.countersign.answer(changeId, system.sign(status, 'alice', 'confirm', [first]));
    await system.countersign.answer(changeId, system.sign(status, 'bob', 'confirm', others), { via: 'signal' });
    await system.ended(changeId);
    return changeId;
  },
  declined: async (system) => {
    const { changeId } = await system.submit(WHOLE_TABLE);
    const status = await system.waiting(changeId);
    const [first = '', second = ''] = humanViolations(status);
    await system.countersign.answer(changeId, system.sign(status, 'alice', 'confirm', [first]));
    await system.countersign.answer(changeId, system.sign(status, 'bob', 'reject', [second]));
    await system.ended(changeId);
    return changeId;
  },
  forbidden: async (system) => {
    const { changeId } = await system.submit(HIDDEN_DROP);
    await system.ended(changeId);
    return changeId;
  },
  stale_base: async (system) => {
    const { changeId } = await system.submit(PRICE(7, 1, 650));
    await system.waiting(changeId);
    await system.shop('update prices set version = 99, cents = 700 where id = 7');
    await system.answer(changeId, 'alice', 'confirm');
    await system.ended(changeId);
    return changeId;
  },
  judge_concern: async (system) => {
    const { changeId } = await system.submit(CONCERN);
    await system.answer(changeId, 'alice', 'confirm');
    await system.ended(changeId);
    return changeId;
  },
  judge_error: async (system) => {
    const { changeId } = await system.submit(SILENT_JUDGE);
    await system.answer(changeId, 'bob', 'confirm');
    await system.ended(changeId);
    return changeId;
  },
  expired: async (system) => {
    const { changeId } = await system.submit(DRAFT);
    await system.ended(changeId);
    return changeId;
  },
  withdrawn: async (system) => {
    const { changeId } = await system.submit(waitingPrice(8));
    await system.waiting(changeId);
    await system.countersign.withdraw(changeId, { actor: 'dana', reason: 'wrong price' });
    await system.ended(changeId);
    return changeId;
  },
  cooperative: async (system) => {
    const { changeId } = await system.submit(REFUND);
    await system.ended(changeId);
    return changeId;
  },
};

/** Starts a worker for the workflow `requester`, which waits for the signal `commit` or `rollback` and returns it. */
export async function startRequesterWorker(taskQueue: string): Promise<{ readonly stop: () => Promise<void> }> {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = temporalEnv();
  const workflowBundle = await testWorkflowBundle();
  return await startWorker(address, { namespace, taskQueue, workflowBundle });
}
