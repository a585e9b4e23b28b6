/** Receipts that no review earned, genuine receipts beside forged words, approvals that are used twice, and evidence with a cut end. */
import { readFileSync, writeFileSync } from 'node:fs';
import { guard } from '../../../client/guard';
import { isGuardBlock } from '../../../client/guard-block';
import type { ReviewOutcome, RollbackReason } from '../../../policy/contracts/outcome';
import { EvidenceBundle, evidenceText } from '../../../policy/evidence/bundle';
import { raisePay, refundOrder, refused, topUp, withoutRow, type Attack, type Attempt } from '../attack';
import { withoutLedger } from '../shown-as';
import type { Testbed } from '../testbed';

/** The attacker schedules `rollback` for an open review, with a reason and words of its choice. */
async function requestRollback(testbed: Testbed, changeId: string, reason: RollbackReason): Promise<void> {
  const { submission, planHash } = await testbed.submissionOf(changeId);
  await testbed.attacker.schedule('rollback', testbed.queues.commit, {
    changeId,
    submission,
    planHash,
    inputSha: '0'.repeat(64),
    stagingSha: null,
    fingerprint: null,
    mode: 'enforced',
    reason,
    explanation: 'alice declined this change',
  });
}

/** What the ledger says about the end of a change; null while it is open. */
async function endOf(testbed: Testbed, changeId: string): Promise<string | null> {
  const receipt = (await testbed.rows(changeId)).find(({ kind }) => kind === 'receipt');
  if (receipt === undefined) return null;
  const { reason } = receipt.body['predicate'] as { reason: string | null };
  return `a receipt with the reason ${reason}: ${String(receipt.body['explanation'])}`;
}

function unearnedRollback(reason: RollbackReason): Attack {
  return {
    name: `unearned receipt: rollback of an open review as ${reason}`,
    async run(testbed) {
      const { changeId } = await testbed.submitAndWait(raisePay(5));
      await requestRollback(testbed, changeId, reason);
      const refusal = refused('rollback', `do not support a rollback as ${reason}`);
      return { changeId, refusal, achieved: await endOf(testbed, changeId) };
    },
  };
}

type Forgeable = 'explanation' | 'findings' | 'violations';

/** A workflow of the attacker takes the id of a closed review and returns its genuine receipt beside other words. */
function forgedWords(what: Forgeable, forge: (outcome: ReviewOutcome) => Partial<ReviewOutcome>): Attack {
  return {
    name: `genuine receipt beside forged ${what}`,
    async run(testbed) {
      const changeId = await testbed.submit(topUp(7));
      const result = await testbed.ended(changeId);
      if (result.state !== 'COMMITTED') throw new Error(`${changeId} is ${result.state}`);
      await testbed.baseline();
      const forged = { ...result.outcome, ...forge(result.outcome) };
      await testbed.attacker.replace(changeId, forged);
      const achieved = await deceivedClient(testbed, changeId, what, result.outcome);
      return withoutRow(changeId, `client: ${what} of the rows and the receipt only`, achieved);
    },
  };
}

/** What a client takes of the words of the workflow, with and without a ledger; null if nothing. */
async function deceivedClient(
  testbed: Testbed,
  changeId: string,
  what: Forgeable,
  genuine: ReviewOutcome,
): Promise<string | null> {
  const seen = await testbed.ended(changeId);
  if (seen.state !== 'COMMITTED' || !seen.verified) return `the outcome is ${seen.state} and not verified`;
  if (JSON.stringify(seen.outcome) !== JSON.stringify(genuine)) return 'the client takes the words of the workflow';
  // Without a ledger, findings and violations are left out, and other words are not covered by the receipt.
  const shown = await withoutLedger(testbed).result(changeId, { timeoutMs: 30_000 });
  if (shown.state !== 'COMMITTED') return `without a ledger the outcome is ${shown.state}`;
  if (what === 'explanation')
    return shown.why?.startsWith('explanation: ') === true ? null : `without a ledger: ${shown.why}`;
  return shown.outcome[what].length === 0 ? null : `without a ledger the client takes the ${what}`;
}

/** One more process with a guarded tool: each has its own client and its own guard. `onWait`: before it waits for the outcome. */
function guarded(testbed: Testbed, requestKey: string, paid: string[], name: string, onWait = () => {}) {
  const pay = async (order: number): Promise<string> => {
    paid.push(`${name}: order ${order}`);
    return 'paid';
  };
  const stage = (order: number): string => JSON.stringify({ orderId: order, amountCents: 100, why: 'damaged' });
  const options = { sourceTool: 'ShopRefund', target: 'shop', stage, requestKey: () => requestKey };
  const client = testbed.client.as(testbed.keyOf('agent'));
  const result = client.result.bind(client);
  client.result = (...args) => (onWait(), result(...args));
  return guard(pay, options, client);
}

/** The effect ran once, and the row `spent` gives the approval to one process. */
async function usedOnce(testbed: Testbed, changeId: string, paid: readonly string[]): Promise<Attempt> {
  const by = 'gateway: the approval is spent';
  if (paid.length !== 1) return withoutRow(changeId, by, `the effect ran ${paid.length} times: ${paid.join(', ')}`);
  const spent = (await testbed.rows(changeId)).filter(({ kind }) => kind === 'spent').length;
  return withoutRow(changeId, by, spent === 1 ? null : `${spent} rows say that the approval is used`);
}

const payment = (orderId: number, requestKey: string) => ({
  target: 'shop',
  sourceTool: 'ShopRefund',
  raw: JSON.stringify({ orderId, amountCents: 100, why: 'damaged' }),
  requestKey,
});

const readBundle = (file: string): EvidenceBundle => EvidenceBundle.parse(JSON.parse(readFileSync(file, 'utf8')));

/** The bundle without the rows from index `end` on, with matching head and proofs. */
function cutAt(bundle: EvidenceBundle, end: number): EvidenceBundle {
  const rows = bundle.rows.slice(0, end);
  const inclusion =
    bundle.inclusion === null ? null : { ...bundle.inclusion, leaves: bundle.inclusion.leaves.slice(0, end) };
  return { ...bundle, rows, head: { rows: end, hash: rows.at(-1)?.hash ?? '' }, inclusion };
}

const after = (bundle: EvidenceBundle, kind: string): number =>
  bundle.rows.findIndex(({ row }) => row.kind === kind) + 1;

async function committedRefund(testbed: Testbed, id: number): Promise<string> {
  const status = await testbed.submitAndWait(refundOrder(id));
  await testbed.update(status.changeId, testbed.sign(status, testbed.keyOf('alice')));
  await testbed.ended(status.changeId);
  // A late reject, which is refused and recorded after the end.
  await testbed.countersign.answer(status.changeId, testbed.sign(status, testbed.keyOf('bob'), 'reject'));
  await testbed.baseline();
  return status.changeId;
}

/** `verify` must give this verdict, in these words. */
function cutEnd(
  name: string,
  { verdict, words }: { readonly verdict: 'verified' | 'incomplete' | 'failed'; readonly words: string },
  edit: (bundle: EvidenceBundle, testbed: Testbed) => EvidenceBundle | Promise<EvidenceBundle>,
): Attack {
  return {
    name: `evidence with a cut end: ${name}`,
    async run(testbed) {
      const changeId = await committedRefund(testbed, 17);
      const file = await testbed.exported(changeId);
      const { sha256: _sha, ...edited } = await edit(readBundle(file), testbed);
      writeFileSync(file, evidenceText(edited));
      const said = await testbed.verify(file);
      const isExpected = said.verdict === verdict && said.out.includes(words);
      const achieved = isExpected ? null : `verify says: ${said.out.slice(0, 2_000)}`;
      return withoutRow(changeId, `verify: ${verdict}, ${words}`, achieved);
    },
  };
}

export const RECEIPTS: readonly Attack[] = [
  {
    name: 'unearned receipt: rollback of an invented change',
    async run(testbed) {
      const { changeId, submission } = await testbed.prepared(refundOrder(1));
      const result = await testbed.attacker.schedule('rollback', testbed.queues.commit, {
        changeId,
        submission,
        planHash: null,
        inputSha: '0'.repeat(64),
        stagingSha: null,
        fingerprint: null,
        mode: 'enforced',
        reason: 'declined',
        explanation: 'alice declined this change',
      });
      const opened = 'expected a change that was opened';
      const isRefused = !result.ok && result.message.includes(opened);
      const achieved = isRefused ? await endOf(testbed, changeId) : `rollback: ${JSON.stringify(result)}`;
      return withoutRow(changeId, `rollback: ${opened}`, achieved);
    },
  },
  ...(
    ['declined', 'expired', 'forbidden', 'withdrawn', 'contract_violation', 'commit_failed', 'no_handler'] as const
  ).map(unearnedRollback),
  {
    name: 'unearned receipt: a commit that the attacker schedules, then a rollback as commit_refused',
    async run(testbed) {
      const status = await testbed.submitAndWait(raisePay(6));
      await testbed.scheduleCommit(status);
      await requestRollback(testbed, status.changeId, 'commit_refused');
      const refusal = refused('rollback', 'do not support a rollback as commit_refused');
      return { changeId: status.changeId, refusal, achieved: await endOf(testbed, status.changeId) };
    },
  },
  {
    name: 'unearned receipt: reconcile of a review that waits for a person',
    async run(testbed) {
      const { changeId } = await testbed.submitAndWait(raisePay(7));
      await testbed.attacker.schedule('reconcile', testbed.queues.commit, { changeId });
      const refusal = refused('rollback', 'do not support a rollback as commit_failed');
      return { changeId, refusal, achieved: await endOf(testbed, changeId) };
    },
  },
  {
    name: 'unearned receipt: forged words in a rollback that the rows support',
    async run(testbed) {
      const status = await testbed.submitAndWait(raisePay(8));
      const { changeId } = status;
      await testbed.scheduleAdmission(status, testbed.sign(status, testbed.keyOf('bob'), 'reject'));
      await requestRollback(testbed, changeId, 'declined');
      const end = await endOf(testbed, changeId);
      const achieved = end?.includes('guardian.payroll declined by bob') === true ? null : `the end is ${end}`;
      return withoutRow(changeId, 'the rows, not the request, give the explanation', achieved);
    },
  },
  forgedWords('explanation', () => ({ explanation: 'alice and bob approved this change' })),
  forgedWords('findings', ({ findings }) => ({
    findings: findings.map((f) => ({ ...f, reason: 'checked by alice' })),
  })),
  forgedWords('violations', () => ({
    violations: [
      {
        violationId: '1'.repeat(64),
        findingIndex: 0,
        validatorId: 'guardian.orders',
        policyKey: 'implicit',
        message: 'confirmed by alice',
        requiresConfirmation: true,
        callbackResult: null,
        need: 'human',
        group: 'dba',
        quorum: 1,
        fourEyes: false,
        deadlineMs: 1000,
      },
    ],
  })),
  {
    name: 'single use: a replayed genuine receipt lets a guarded tool run again',
    async run(testbed) {
      const paid: string[] = [];
      const first = guarded(testbed, 'fixed-key', paid, 'first');
      await first(41);
      if (paid.length !== 1) throw new Error('The first call was not approved');
      const { changeId } = testbed.countersign.prepare(payment(41, 'fixed-key'));
      const old = await testbed.ended(changeId);
      if (old.state !== 'COMMITTED') throw new Error(`${changeId} is ${old.state}`);
      const finish = await testbed.attacker.impersonate(changeId);
      let onWait = (): void => {};
      const waits = new Promise<void>((resolve) => (onWait = resolve));
      const again = guarded(testbed, 'fixed-key', paid, 'second', onWait)(41);
      // The client first waits for the preflight, in vain, and then for the outcome.
      await Promise.race([waits, again]);
      await finish(old.outcome);
      const blocked = await again;
      if (!isGuardBlock(blocked) || blocked.reason !== 'already_used')
        throw new Error(`The second call did not take the replayed receipt: ${JSON.stringify(blocked)}`);
      return usedOnce(testbed, changeId, paid);
    },
  },
  {
    name: 'single use: two processes wait for the same approval',
    async run(testbed) {
      const paid: string[] = [];
      const calls = ['one', 'two'].map((name) => guarded(testbed, 'shared-key', paid, name));
      await Promise.all(calls.map((call) => call(42)));
      if (paid.length === 0) throw new Error('No call was approved');
      return usedOnce(testbed, testbed.countersign.prepare(payment(42, 'shared-key')).changeId, paid);
    },
  },
  cutEnd('the late reject is removed', { verdict: 'verified', words: 'later rows are not proved' }, (bundle) =>
    cutAt(bundle, Math.max(after(bundle, 'closed'), after(bundle, 'head'))),
  ),
  cutEnd('every row after `closed` is removed', { verdict: 'incomplete', words: 'head' }, (bundle) =>
    cutAt(bundle, after(bundle, 'closed')),
  ),
  cutEnd(
    'the head of another change is put in place',
    { verdict: 'failed', words: 'the row belongs t' },
    async (bundle, testbed) => {
      const other = readBundle(await testbed.exported(await committedRefund(testbed, 18)));
      const head = other.rows.find(({ row }) => row.kind === 'head');
      const cut = cutAt(bundle, after(bundle, 'closed'));
      return head === undefined
        ? cut
        : { ...cut, rows: [...cut.rows, head], head: { rows: cut.rows.length + 1, hash: head.hash } };
    },
  ),
];
