/**
 * Receipts that no review earned, genuine receipts beside forged words, approvals that are used twice, evidence with a cut end,
 * and metadata that becomes part of an effect.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { guard } from '../../../client/guard';
import type { ReviewOutcome, RollbackReason } from '../../../policy/contracts/outcome';
import { EvidenceBundle, evidenceText } from '../../../policy/evidence/bundle';
import { raisePay, refundOrder, topUp, type Attack, type Attempt } from '../attack';
import { ifRefused } from '../if-refused';
import { pause } from '../namespace-writer';
import type { Change, Testbed } from '../testbed';

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
      return { changeId, refusal: null, check: () => endOf(testbed, changeId) };
    },
  };
}

/** A workflow of the attacker takes the id of a closed review and returns its genuine receipt beside other words. */
function forgedWords(what: string, forge: (outcome: ReviewOutcome) => Partial<ReviewOutcome>): Attack {
  return {
    name: `genuine receipt beside forged ${what}`,
    async run(testbed) {
      const changeId = await testbed.submit(topUp(7));
      const result = await testbed.ended(changeId);
      if (result.state !== 'COMMITTED') throw new Error(`${changeId} is ${result.state}`);
      await testbed.baseline();
      const forged = { ...result.outcome, ...forge(result.outcome) };
      await testbed.attacker.replace(changeId, forged);
      const check = async (): Promise<string | null> => {
        const seen = await testbed.ended(changeId);
        if (seen.state === 'ABORTED' || seen.verified !== true) return null;
        return JSON.stringify(seen.outcome) === JSON.stringify(forged) ? `the client calls the ${what} verified` : null;
      };
      return { changeId, refusal: null, check };
    },
  };
}

/** One more process with a guarded tool: each has its own client and its own guard. */
function guarded(testbed: Testbed, requestKey: string, paid: string[], name: string) {
  const pay = async (order: number): Promise<string> => {
    paid.push(`${name}: order ${order}`);
    return 'paid';
  };
  const stage = (order: number): string => JSON.stringify({ orderId: order, amountCents: 100, why: 'damaged' });
  const options = { sourceTool: 'ShopRefund', target: 'shop', stage, requestKey: () => requestKey };
  return guard(pay, options, testbed.client.as(testbed.keyOf('agent')));
}

const twice = (paid: readonly string[]) => async (): Promise<string | null> =>
  paid.length > 1 ? `the effect ran ${paid.length} times: ${paid.join(', ')}` : null;

let edited = 0;
/** Exports a change, edits the file, and verifies it with the command line. */
async function verifyEdited(
  testbed: Testbed,
  changeId: string,
  edit: (bundle: EvidenceBundle) => EvidenceBundle | Promise<EvidenceBundle>,
): Promise<{ readonly code: number; readonly out: string }> {
  const trust = join(testbed.dev.runtime.stateDir, 'evidence-trust.json');
  const file = join(testbed.dev.runtime.stateDir, `${changeId}.${++edited}.json`);
  const { code } = await testbed.cli('export', changeId, '--out', file);
  if (code !== 0) throw new Error(`export: exit code ${code}`);
  const bundle = EvidenceBundle.parse(JSON.parse(readFileSync(file, 'utf8')));
  const { sha256: _sha, ...rest } = await edit(bundle);
  writeFileSync(file, evidenceText(rest));
  return testbed.cli('verify', file, '--trust', trust, '--json');
}

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

function cutEnd(
  name: string,
  edit: (bundle: EvidenceBundle, testbed: Testbed) => EvidenceBundle | Promise<EvidenceBundle>,
): Attack {
  return {
    name: `evidence with a cut end: ${name}`,
    async run(testbed) {
      const changeId = await committedRefund(testbed, 17);
      const { code, out } = await verifyEdited(testbed, changeId, (bundle) => edit(bundle, testbed));
      const claimsAll = /"verdict":"verified"/.test(out.replaceAll(' ', '')) && !/later rows are not proved/.test(out);
      const check = async (): Promise<string | null> =>
        code === 0 && claimsAll ? 'verify says verified and does not say that rows can be missing' : null;
      return { changeId, refusal: null, check };
    },
  };
}

let files = 0;
/** A patch that adds a file, with metadata of the attacker's choice. */
function patch(testbed: Testbed, metadata: Readonly<Record<string, string>>): Change {
  const file = `notes/${++files}.txt`;
  const raw = `diff --git a/${file} b/${file}\nnew file mode 100644\n--- /dev/null\n+++ b/${file}\n@@ -0,0 +1 @@\n+${files}\n`;
  return {
    target: 'repo',
    sourceTool: 'GitPatch',
    raw,
    metadata: { base_commit: testbed.repository.tip(), ...metadata },
  };
}

function commitMessage(name: string, message: string): Attack {
  return {
    name: `metadata that becomes a commit message: ${name}`,
    async run(testbed) {
      const before = testbed.repository.tip();
      const change = patch(testbed, { message });
      const changeId = await ifRefused(testbed.submit(change), ['metadata'], null);
      if (changeId !== null) await endedOrAsked(testbed, changeId);
      const check = async (): Promise<string | null> =>
        testbed.repository.tip() === before
          ? null
          : `committed without a person as: ${JSON.stringify(testbed.repository.message())}`;
      return { changeId: changeId ?? '0'.repeat(64), refusal: null, check };
    },
  };
}

/** Waits until the review has ended or asks a person. */
async function endedOrAsked(testbed: Testbed, changeId: string): Promise<void> {
  const done = await testbed.waitForRow(changeId, ({ kind }) => ['closed', 'disclosed'].includes(kind));
  if (done === null) throw new Error(`${changeId} neither ended nor asked a person`);
}

const withCheck = (attempt: Omit<Attempt, 'refusal'>): Attempt => ({ refusal: null, ...attempt });

export const RECEIPTS: readonly Attack[] = [
  {
    name: 'unearned receipt: rollback of an invented change',
    async run(testbed) {
      const { changeId, submission } = await testbed.prepared(refundOrder(1));
      await testbed.attacker.schedule('rollback', testbed.queues.commit, {
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
      return withCheck({ changeId, check: () => endOf(testbed, changeId) });
    },
  },
  ...(
    ['declined', 'expired', 'forbidden', 'withdrawn', 'contract_violation', 'commit_failed', 'no_handler'] as const
  ).map(unearnedRollback),
  {
    name: 'unearned receipt: a commit by hand, then a rollback as commit_refused',
    async run(testbed) {
      const status = await testbed.submitAndWait(raisePay(6));
      await testbed.scheduleCommit(status);
      await requestRollback(testbed, status.changeId, 'commit_refused');
      return withCheck({ changeId: status.changeId, check: () => endOf(testbed, status.changeId) });
    },
  },
  {
    name: 'unearned receipt: reconcile of a review that waits for a person',
    async run(testbed) {
      const { changeId } = await testbed.submitAndWait(raisePay(7));
      await testbed.attacker.schedule('reconcile', testbed.queues.commit, { changeId });
      return withCheck({ changeId, check: () => endOf(testbed, changeId) });
    },
  },
  {
    name: 'unearned receipt: forged words in a rollback that the rows support',
    async run(testbed) {
      const status = await testbed.submitAndWait(raisePay(8));
      const { changeId } = status;
      await testbed.scheduleAdmission(status, testbed.sign(status, testbed.keyOf('bob'), 'reject'));
      await requestRollback(testbed, changeId, 'declined');
      const check = async (): Promise<string | null> => {
        const end = await endOf(testbed, changeId);
        return end?.includes('alice declined') === true ? end : null;
      };
      return withCheck({ changeId, check });
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
      const changeId = testbed.countersign.prepare({
        target: 'shop',
        sourceTool: 'ShopRefund',
        raw: JSON.stringify({ orderId: 41, amountCents: 100, why: 'damaged' }),
        requestKey: 'fixed-key',
      }).changeId;
      const old = await testbed.ended(changeId);
      if (old.state !== 'COMMITTED') throw new Error(`${changeId} is ${old.state}`);
      const finish = await testbed.attacker.impersonate(changeId);
      const again = guarded(testbed, 'fixed-key', paid, 'second')(41);
      // The client first waits for the preflight, in vain, and then for the outcome.
      await pause(14_000);
      await finish(old.outcome);
      await again;
      return withCheck({ changeId, check: twice(paid) });
    },
  },
  {
    name: 'single use: two processes wait for the same approval',
    async run(testbed) {
      const paid: string[] = [];
      const calls = ['one', 'two'].map((name) => guarded(testbed, 'shared-key', paid, name));
      await Promise.all(calls.map((call) => call(42)));
      if (paid.length === 0) throw new Error('No call was approved');
      return withCheck({ changeId: '0'.repeat(64), check: twice(paid) });
    },
  },
  cutEnd('the late reject is removed', (bundle) =>
    cutAt(bundle, Math.max(after(bundle, 'closed'), after(bundle, 'head'))),
  ),
  cutEnd('every row after `closed` is removed', (bundle) => cutAt(bundle, after(bundle, 'closed'))),
  cutEnd('the head of another change is put in place', async (bundle, testbed) => {
    const other = await committedRefund(testbed, 18);
    let foreign: EvidenceBundle | null = null;
    await verifyEdited(testbed, other, (b) => (foreign = b));
    const head = (foreign as EvidenceBundle | null)?.rows.find(({ row }) => row.kind === ('head' as never));
    const cut = cutAt(bundle, after(bundle, 'closed'));
    return head === undefined
      ? cut
      : { ...cut, rows: [...cut.rows, head], head: { rows: cut.rows.length + 1, hash: head.hash } };
  }),
  commitMessage('a trailer Reviewed-by', 'Fix a typo\n\nReviewed-by: Alice <alice@example.com>'),
  commitMessage('a trailer Approved-by after blanks', 'Fix a typo\n\n  approved-by : Alice <alice@example.com>'),
  commitMessage('a line that claims a signature of another', 'Fix a typo\n\nSigned-off-by: Alice <alice@example.com>'),
  commitMessage('U+202E', 'Fix a typo \u202egnihtyreve eteled\u202c'),
  commitMessage('a C1 control character', 'Fix a typo\u009b2J'),
  commitMessage('a zero width space inside a trailer', 'Fix a typo\n\nRe\u200bviewed-by: Alice <alice@example.com>'),
  commitMessage('[skip ci]', 'Fix a typo [skip ci]'),
  commitMessage('a secret', `Fix a typo\n\npostgres://shop:${'hunter2'}-Zq81kWx@db.example.com/shop`),
  {
    name: 'metadata that becomes part of an effect: an author that a person never saw',
    async run(testbed) {
      const before = testbed.repository.tip();
      const change = patch(testbed, { author: 'Alice <alice@example.com>', author_name: 'Alice' });
      const changeId = await ifRefused(testbed.submit(change), ['metadata'], null);
      if (changeId !== null) await endedOrAsked(testbed, changeId);
      const check = async (): Promise<string | null> =>
        testbed.repository.tip() !== before && /alice/i.test(testbed.repository.author())
          ? `the author is ${testbed.repository.author()}`
          : null;
      return withCheck({ changeId: changeId ?? '0'.repeat(64), check });
    },
  },
  {
    name: 'metadata that becomes part of an effect: show does not print it',
    async run(testbed) {
      const before = testbed.repository.tip();
      const changeId = await testbed.submit(patch(testbed, { message: 'Delete the branch protection' }));
      await endedOrAsked(testbed, changeId);
      const shown = (await testbed.cli('show', changeId)).out;
      if (testbed.repository.tip() === before) throw new Error('Nothing was committed');
      const check = async (): Promise<string | null> =>
        shown.includes('Delete the branch protection') ? null : 'show does not print the commit message';
      return withCheck({ changeId, check });
    },
  },
  {
    name: 'header injection: a line end in a header of a request',
    async run(testbed) {
      const request = {
        method: 'PATCH',
        url: `${testbed.api.url}/flags/beta`,
        contentType: 'application/merge-patch+json',
        headers: { 'X-Note': 'a\r\nX-Approved-By: alice' },
        body: { on: true },
      };
      const submitted = testbed.submit({
        target: 'api',
        sourceTool: 'HTTPPatch',
        raw: JSON.stringify(request),
        metadata: { headers: { 'X-Approved-By': 'alice' } },
      });
      const changeId = await ifRefused(submitted, ['metadata'], null);
      if (changeId !== null) await endedOrAsked(testbed, changeId);
      const check = async (): Promise<string | null> =>
        testbed.api.headers.some((names) => names.includes('x-approved-by'))
          ? 'the target received X-Approved-By'
          : null;
      return withCheck({ changeId: changeId ?? '0'.repeat(64), check });
    },
  },
];
