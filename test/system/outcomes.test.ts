import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import type { ReviewStatus } from '../../policy/contracts/status';
import { queryWorkflow } from '../../dev/query-workflow';
import { GIFT_POLICY } from '../support/shop-bundle';
import type { System } from '../support/system';
import { guard } from '../../client/guard';
import { verifyReceipt } from '../../client/receipt';
import type { DecidedMessage } from '../../policy/contracts/messages';
import { JUDGE_WHY, useJudgedShop } from './judge-words';
import {
  humanViolations,
  PRICE,
  REFUND,
  SCENARIOS,
  startRequesterWorker,
  update,
  VAULT,
  waitingPrice,
  WHOLE_TABLE,
} from './scenarios';

const { judge, system } = useJudgedShop('outcomes', {
  validators: `
  - { rule: shop_stock_left, config: { maxRows: 2 }, sourceTools: [SQLDryRun] }
  - { condition: { name: late, when: has(metadata.late), reason: Late. } }`,
  policies: `${GIFT_POLICY}
  - { key: late, name: Late, match: { validatorIds: [guardian.late] }, deadline: 10s }`,
});

async function run(name: string): Promise<Awaited<ReturnType<System['ended']>> & { changeId: string }> {
  const changeId = await SCENARIOS[name]?.(system);
  if (changeId === undefined) throw new Error(`No scenario ${name}`);
  return { ...(await system.ended(changeId)), changeId };
}

async function checksum(table: string): Promise<unknown> {
  return (await system.shop(`select md5(string_agg(t::text, '|' order by t.id)) as sum from ${table} t`))[0];
}

const finding = (outcome: { readonly findings: readonly { readonly validator_id: string }[] }, id: string) =>
  outcome.findings.find((f) => f.validator_id === id);
const kinds = async (changeId: string): Promise<string[]> => (await system.ledger(changeId)).map(({ row }) => row.kind);

test('commits once without approval if every guardian and the judge allow', async () => {
  const { state, outcome, verified, changeId } = await run('committed');
  expect({ state, verified, violations: outcome.violations, reason: outcome.reason }).toEqual({
    state: 'COMMITTED',
    verified: true,
    violations: [],
    reason: null,
  });
  expect(await system.shop('select stock from items where id = 1')).toEqual([{ stock: 11 }]);
  expect(
    await system.shop('select count(*)::int as n from countersign.marker where change_id = $1', [changeId]),
  ).toEqual([{ n: 1 }]);
  expect(finding(outcome, 'guardian.llm_judge')).toMatchObject({ status: 'ALLOW' });
  expect(await kinds(changeId)).not.toContain('disclosed');
});

test('rolls back if one violation is rejected, although another was confirmed: the table is unchanged and the workflow is completed [T44, T46]', async () => {
  const before = await checksum('accounts');
  const { state, outcome, verified, changeId } = await run('declined');
  expect({ state, verified, reason: outcome.reason }).toEqual({
    state: 'ROLLED_BACK',
    verified: true,
    reason: 'declined',
  });
  expect(outcome.explanation).toContain('bob');
  expect(outcome.violations.map((v) => v.validatorId)).toEqual(
    expect.arrayContaining(['guardian.sql_update_without_where', 'guardian.sql_affected_rows']),
  );
  expect(await checksum('accounts')).toEqual(before);
  const handle = system.temporal.workflow.getHandle(changeId);
  // The ledger has the outcome before the workflow ends.
  await handle.result();
  expect((await handle.describe()).status.name).toBe('COMPLETED');
});

test('waits until every violation has an answer, then commits exactly the rows of the dry run [T46]', async () => {
  const { changeId } = await system.submit(WHOLE_TABLE);
  const status = await system.waiting(changeId);
  const [last = '', ...others] = humanViolations(status);
  expect(others.length).toBeGreaterThan(0);
  await system.countersign.answer(changeId, system.sign(status, 'alice', 'confirm', others));
  const still = await system.countersign.status(changeId);
  expect({
    state: still.state,
    pending: still.violations.filter((v) => v.resolution === 'pending').map((v) => v.violationId),
  }).toEqual({ state: 'INTERVENTION_REQUIRED', pending: [last] });
  const results = await system.countersign.answer(changeId, system.sign(status, 'alice', 'confirm', [last]));
  expect(results[last]?.code).toBe('accepted');
  const { state, outcome } = await system.ended(changeId);
  expect(state).toBe('COMMITTED');
  const { staging } = await system.countersign.review(changeId);
  const touched = staging?.tables.reduce((rows, t) => rows + t.updated, 0);
  expect(await system.shop('select count(*)::int as n from accounts where balance = 101')).toEqual([{ n: touched }]);
  expect(outcome.stagingSha).toBe(status.stagingSha);
});

test('executes nothing and asks no person if a rule forbids; dry run and judge are reported as skipped [T45]', async () => {
  judge.clear();
  const { state, outcome, changeId } = await run('forbidden');
  expect({ state, reason: outcome.reason, violations: outcome.violations }).toEqual({
    state: 'ROLLED_BACK',
    reason: 'forbidden',
    violations: [],
  });
  expect(finding(outcome, 'safety.sql_dynamic_sql')).toMatchObject({ status: 'BLOCK', class: 'SAFETY' });
  expect(finding(outcome, 'guardian.llm_judge')).toMatchObject({ status: 'SKIPPED', reasonCode: 'static_block' });
  expect(finding(outcome, 'guardian.sql_affected_rows')).toMatchObject({
    status: 'SKIPPED',
    reasonCode: 'static_block',
  });
  expect(judge.requests).toHaveLength(0);
  const kindsSeen = await kinds(changeId);
  for (const kind of ['staged', 'disclosed', 'intent']) expect(kindsSeen).not.toContain(kind);
  expect(await system.shop('select count(*)::int as n from accounts')).toEqual([{ n: 30 }]);
});

test('writes nothing if the row changed while the review waited [T61]', async () => {
  const { state, outcome, verified } = await run('stale_base');
  expect({ state, reason: outcome.reason, verified }).toEqual({
    state: 'ROLLED_BACK',
    reason: 'stale_base',
    verified: true,
  });
  expect(outcome.explanation).not.toBe('');
  expect(await system.shop('select cents, version from prices where id = 7')).toEqual([{ cents: 700, version: 99 }]);
});

test('ends as stale_base, and asks no person, if the row had changed before the dry run [T61]', async () => {
  const { changeId } = await system.submit(PRICE(9, 0, 650));
  const { state, outcome, verified } = await system.ended(changeId);
  expect({ state, reason: outcome.reason, verified }).toEqual({
    state: 'ROLLED_BACK',
    reason: 'stale_base',
    verified: true,
  });
  expect(outcome.explanation).toContain('/rows/0: expected exactly one row');
  expect(await kinds(changeId)).not.toContain('disclosed');
  // The workflow asked for this reason, so the committer had none to replace.
  expect(await system.temporal.workflow.getHandle(changeId).result()).toMatchObject({ reason: 'stale_base' });
});

test('asks about a concern that only the judge has, with its evidence, and commits after a confirmation', async () => {
  const { state, outcome } = await run('judge_concern');
  expect(state).toBe('COMMITTED');
  const concern = finding(outcome, 'guardian.llm_judge') as
    { status: string; reason: string; evidenceRefs: string[] } | undefined;
  expect(concern?.status).toBe('WARN');
  expect(concern?.reason).toContain(JUDGE_WHY);
  expect(concern?.evidenceRefs[0]).toMatch(/^diff:[0-9a-f]{64}#L1/);
  expect(outcome.violations.map((v) => v.validatorId)).toEqual(['guardian.llm_judge']);
});

test('asks a person if the judge fails, and never commits without approval [T28]', async () => {
  const { state, outcome } = await run('judge_error');
  expect(state).toBe('COMMITTED');
  expect(finding(outcome, 'guardian.llm_judge')).toMatchObject({ status: 'BLOCK', errorClass: 'ErrValidatorBackend' });
});

test('rolls back if no answer arrives before the deadline [T62]', async () => {
  const { state, outcome } = await run('expired');
  expect({ state, reason: outcome.reason }).toEqual({ state: 'ROLLED_BACK', reason: 'expired' });
  expect(await system.shop(`select body from drafts where id = 2`)).toEqual([{ body: 'draft 2' }]);
});

test('rolls back immediately, without waiting, if no person can answer [T51]', async () => {
  const { changeId } = await system.submit(VAULT);
  const { state, outcome } = await system.ended(changeId);
  expect({ state, reason: outcome.reason }).toEqual({ state: 'ROLLED_BACK', reason: 'no_handler' });
  expect(outcome.explanation).toContain('keyless');
});

test('a failed dry run ends the review with the reason of the target and without values from the diff', async () => {
  const { changeId } = await system.submit(
    update(`update items set stock = -1, name = 'Okapi4' where id = 9`, 'items', 1),
  );
  const { state, outcome } = await system.ended(changeId);
  expect({ state, reason: outcome.reason }).toEqual({ state: 'ROLLED_BACK', reason: 'commit_failed' });
  expect(outcome.explanation).toMatch(/23514 check violation \(table public\.items, constraint items_stock_check\)/);
  expect(JSON.stringify(outcome)).not.toContain('Okapi4');
});

test('a commit that the target rejects after a successful dry run ends as commit_failed, with the reason', async () => {
  const { changeId } = await system.submit(PRICE(12, 1, 900));
  await system.waiting(changeId);
  await system.shop('alter table prices add constraint cheap check (cents < 800) not valid');
  await system.answer(changeId, 'alice', 'confirm');
  const { state, outcome } = await system.ended(changeId);
  await system.shop('alter table prices drop constraint cheap');
  expect({ state, reason: outcome.reason }).toEqual({ state: 'ROLLED_BACK', reason: 'commit_failed' });
  expect(outcome.explanation).toContain('23514');
  expect(await system.shop('select cents from prices where id = 12')).toEqual([{ cents: 500 }]);
});

test('a withdrawal is acknowledged and ends the review, and later answers are refused', async () => {
  const { changeId } = await system.submit(waitingPrice(13));
  const status = await system.waiting(changeId);
  await expect(system.countersign.withdraw(changeId, { actor: 'dana', reason: 'typo' })).resolves.toMatchObject({
    code: 'accepted',
  });
  const { state, outcome } = await system.ended(changeId);
  expect({ state, reason: outcome.reason }).toEqual({ state: 'ROLLED_BACK', reason: 'withdrawn' });
  expect(outcome.explanation).toBe('Withdrawn by agent shop-agent, for dana: typo');
  const late = await system.countersign.answer(changeId, system.sign(status, 'alice', 'confirm'));
  expect(Object.values(late).map((r) => r.code)).toEqual(['closed']);
  // By the row of the first: the change is withdrawn.
  await system.temporal.workflow.getHandle(changeId).result();
  await expect(system.countersign.withdraw(changeId, { actor: 'dana', reason: '' })).resolves.toMatchObject({
    code: 'duplicate',
  });
});

test('a change that supersedes another ends it and inherits none of its answers', async () => {
  const first = await system.submit(waitingPrice(14, 610));
  await system.waiting(first.changeId);
  const second = await system.submit({ ...waitingPrice(14, 620), supersedes: first.changeId });
  await system.countersign.supersede(first.changeId, { by: second.changeId, actor: 'dana', reason: '' });
  const ended = await system.ended(first.changeId);
  expect({ state: ended.state, reason: ended.outcome.reason }).toEqual({ state: 'ROLLED_BACK', reason: 'superseded' });
  expect((await system.waiting(second.changeId)).violations.map((v) => v.resolution)).toEqual(['pending']);
  await system.answer(second.changeId, 'bob', 'reject');
});

test('a review whose workflow was cancelled is pending until a committer ends it, and no answer is recorded as late', async () => {
  const { changeId } = await system.submit(waitingPrice(15));
  const status = await system.waiting(changeId);
  const workflow = system.temporal.workflow.getHandle(changeId);
  await workflow.cancel();
  await expect(workflow.result()).rejects.toThrow(WorkflowFailedError);
  expect((await workflow.describe()).status.name).toBe('CANCELLED');
  expect(await system.countersign.result(changeId)).toMatchObject({ state: 'PENDING', status: { changeId } });
  const sent = system.countersign.answer(changeId, system.sign(status, 'alice', 'confirm'));
  await expect(sent).rejects.toMatchObject({ code: 'worker_unavailable' });
  const kinds = (await system.ledger(changeId)).map(({ row }) => row.kind);
  const none = ['answer_refused', 'withdrawn', 'intent', 'decided', 'receipt', 'closed'];
  expect(kinds.filter((kind) => none.includes(kind))).toEqual([]);
  expect(await system.shop('select version from prices where id = 15')).toEqual([{ version: 1 }]);
});

test('a reject that arrives while a cancelled workflow ends is recorded, and ends the review as declined', async () => {
  const { changeId } = await system.submit(waitingPrice(16));
  const status = await system.waiting(changeId);
  await system.temporal.workflow.getHandle(changeId).cancel();
  const results = await system.countersign.answer(changeId, system.sign(status, 'alice', 'reject'));
  expect(Object.values(results)).toEqual([{ code: 'accepted', message: 'reject by alice' }]);
  const ended = await system.ended(changeId);
  expect([ended.state, ended.outcome.reason, ended.verified]).toEqual(['ROLLED_BACK', 'declined', true]);
});

test('a callback resolves a violation that needs no confirmation, and forbids another without asking a person [V15]', async () => {
  const gift = (id: number, cents: number) => ({
    ...update(`update gifts set cents = ${cents} where id = ${id}`, 'gifts', 1),
    metadata: { table_name: 'gifts', affected_rows: 1, cents },
  });
  const small = await system.submit(gift(1, 150));
  const allowed = await system.ended(small.changeId);
  expect(allowed).toMatchObject({
    state: 'COMMITTED',
    verified: true,
    outcome: { violations: [{ need: 'callback', callbackResult: { passed: true, message: 'a gift of 150 cents' } }] },
  });
  const large = await system.submit(gift(2, 5000));
  const refused = await system.ended(large.changeId);
  expect(refused).toMatchObject({
    state: 'ROLLED_BACK',
    outcome: { reason: 'forbidden', violations: [{ need: 'hard' }] },
  });
  expect(refused.outcome.explanation).toContain('a gift of 5000 cents');
});

test('a post validator fires on the dry run, and its confirmed finding passes again inside the commit', async () => {
  const { changeId } = await system.submit(
    update('update items set stock = stock + 1 where id in (21, 22, 23)', 'items', 3),
  );
  const status = await system.waiting(changeId);
  expect(status.violations.map((v) => v.validatorId)).toEqual(['guardian.shop_stock_left']);
  await system.answer(changeId, 'alice', 'confirm');
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
});

test('submitting a change twice returns the same review; a rejected change under another request key discloses the rejection', async () => {
  const change = { ...PRICE(16, 1, 640), target: 'shop', requestKey: system.suffix };
  const first = await system.countersign.submit(change);
  const again = await system.countersign.submit(change);
  expect(again.changeId).toBe(first.changeId);
  await system.answer(first.changeId, 'alice', 'reject');
  await system.ended(first.changeId);
  // The ledger has the end a moment before the workflow closes, and a submission joins a workflow that runs.
  await system.temporal.workflow.getHandle(first.changeId).result();
  const closed = await system.countersign.submit(change);
  expect(closed).toMatchObject({ changeId: first.changeId, outcome: { state: 'ROLLED_BACK', reason: 'declined' } });
  const back = await system.submit(PRICE(16, 1, 640));
  const status = await system.waiting(back.changeId);
  const rejected = status.findings.find((f) => f.validatorId === 'guardian.previously_rejected');
  expect(rejected).toMatchObject({ status: 'BLOCK', evidenceRefs: [`review:${first.changeId}`] });
  await system.countersign.withdraw(back.changeId, { actor: 'dana', reason: '' });
});

test('signals the requester’s workflow: commit with a receipt that verifies, or rollback for a rejected change', async () => {
  const taskQueue = `requesters${system.suffix}`;
  const worker = await startRequesterWorker(taskQueue);
  try {
    const start = async (id: string) =>
      await system.temporal.workflow.start('requester', { workflowId: `requester-${id}${system.suffix}`, taskQueue });
    type Received = { signal: string; message: DecidedMessage };
    const paid = await start('paid');
    const { changeId } = await system.submit({ ...REFUND, replyTo: { workflowId: paid.workflowId } });
    const received = (await paid.result()) as Received;
    expect(received).toMatchObject({
      signal: 'commit',
      message: { changeId, outcome: { mode: 'cooperative', state: 'COMMITTED' } },
    });
    const checked = verifyReceipt(received.message.receipt, system.countersign.trust ?? { committers: [] });
    expect(checked).toMatchObject({ ok: true, receipt: { changeId, action: 'COMMIT', mode: 'cooperative' } });

    const refused = await start('refused');
    const second = await system.submit({ ...waitingPrice(17), replyTo: { workflowId: refused.workflowId } });
    await system.answer(second.changeId, 'alice', 'reject');
    expect(await refused.result()).toMatchObject({
      signal: 'rollback',
      message: { changeId: second.changeId, outcome: { reason: 'declined' } },
    });
  } finally {
    await worker.stop();
  }
});

test('a guarded call that starts after its change was approved uses the approval, and no later call does', async () => {
  const requestKey = `down${system.suffix}`;
  const { raw = '', metadata = {}, sourceTool } = REFUND;
  const { changeId } = await system.countersign.submit({ ...REFUND, target: 'shop', requestKey });
  await system.ended(changeId);
  const tool = jest.fn(async () => 'refunded');
  const refund = guard(
    tool,
    { sourceTool, target: 'shop', requestKey: () => requestKey, stage: () => ({ raw, metadata }) },
    system.countersign,
  );
  expect(await refund()).toBe('refunded');
  expect(await refund()).toMatchObject({ reason: 'already_used', changeId });
  expect(tool).toHaveBeenCalledTimes(1);
});

test('a missing requester does not change the outcome and adds a warning', async () => {
  const { changeId } = await system.submit({ ...REFUND, replyTo: { workflowId: `absent${system.suffix}` } });
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
  const workflow = system.temporal.workflow.getHandle(changeId);
  await workflow.result();
  const shown = await queryWorkflow<ReviewStatus>(workflow, 'status');
  expect(shown.warnings).toContain('The requester could not be signalled');
});

// Runs last, because it stops the workers.
test('expires even if every worker was down at the deadline [T62]', async () => {
  const change = update(`update items set stock = 99 where id = 5`, 'items', 1);
  const { changeId } = await system.submit({ ...change, metadata: { ...change.metadata, late: true } });
  const { deadlineAt } = await system.waiting(changeId);
  await Promise.all((['review', 'judge', 'commit'] as const).map((name) => system.stopWorker(name)));
  await pause(Math.max(0, Date.parse(deadlineAt ?? '') - Date.now()) + 300);
  await Promise.all((['review', 'judge', 'commit'] as const).map((name) => system.startWorker(name)));
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'ROLLED_BACK', outcome: { reason: 'expired' } });
});
