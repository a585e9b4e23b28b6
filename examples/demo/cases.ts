/** The seven changes that the demo's agent submits, and how its people answer each. */
import type { Submitted } from '../../client/review-calls';
import type { ReviewResult } from '../../client/result';
import type { SubmitInput } from '../../client/submission';
import { humanViolations } from '../../dev/signed-answers';
import type { Decision } from '../../policy/contracts/answer';
import type { ReviewStatus } from '../../policy/contracts/status';
import type { Shop } from './shop';

/** The operations that a case uses; `main.ts` implements them on the real servers. */
export interface Stage {
  readonly shop: Shop;
  /** Distinguishes this run, because submitting the same change again would return the same review. */
  readonly run: string;
  readonly submit: (input: Omit<SubmitInput, 'target' | 'requestKey'>) => Promise<Submitted>;
  /** Waits until violations are disclosed. */
  readonly waiting: (changeId: string) => Promise<ReviewStatus>;
  /** Signs as this person and sends by update. With --interactive, asks the user at the terminal instead. */
  readonly answer: (
    status: ReviewStatus,
    person: 'alice' | 'bob',
    decision: Decision,
    violationIds: readonly string[],
    reason: string,
  ) => Promise<void>;
  /** The same with the command that `countersign sign` prints, run by the Temporal CLI alone. */
  readonly answerByTemporalCli: (
    status: ReviewStatus,
    person: 'alice' | 'bob',
    decision: Decision,
    violationIds: readonly string[],
    reason: string,
  ) => Promise<void>;
  readonly result: (changeId: string) => Promise<ReviewResult>;
  /** Starts the requester's workflow, which submits, waits for the signal, verifies the receipt and acts. Returns the change id. */
  readonly refundByWorkflow: (orderId: number, amountCents: number) => Promise<string>;
  readonly say: (line: string) => void;
}

export interface Case {
  readonly id: number;
  readonly title: string;
  /** The outcome with the scripted judge and the scripted people. */
  readonly expected: string;
  /** Returns the change id. Throws if the shop is not in the required state afterwards. */
  readonly run: (stage: Stage) => Promise<string>;
}

export const CASES: readonly Case[] = [
  { id: 1, expected: 'COMMITTED', title: 'a narrow UPDATE with a WHERE: no approval needed', run: narrowUpdate },
  {
    id: 2,
    expected: 'ROLLED_BACK declined',
    title: 'an UPDATE without WHERE, over the row limit: one violation confirmed, one rejected',
    run: rejectedUpdate,
  },
  {
    id: 3,
    expected: 'COMMITTED',
    title: 'the same, both violations confirmed, one of them with the Temporal CLI alone',
    run: confirmedUpdate,
  },
  {
    id: 4,
    expected: 'ROLLED_BACK forbidden',
    title: 'a DROP hidden in an escaped string in a DO block',
    run: hiddenDrop,
  },
  {
    id: 5,
    expected: 'ROLLED_BACK stale_base',
    title: 'a compare-and-set on a row that another client changes while the review waits',
    run: staleRow,
  },
  { id: 6, expected: 'COMMITTED', title: 'a change that only the judge objects to', run: judgeConcern },
  { id: 7, expected: 'COMMITTED', title: 'a requester that is itself a workflow, in cooperative mode', run: refund },
];

async function narrowUpdate({ shop, run, submit, result, say }: Stage): Promise<string> {
  const show = async (when: string): Promise<void> =>
    say(
      `  ${when}: ${JSON.stringify((await shop.query('select id, name, tier, note from customers where id = 42'))[0])}`,
    );
  await show('before');
  const { changeId } = await submit({
    sourceTool: 'SQLDryRun',
    raw: `UPDATE customers SET tier = 'gold', note = 'loyalty ${run}' WHERE id = 42`,
    metadata: { table_name: 'customers', affected_rows: 1 },
  });
  await result(changeId);
  await show('after ');
  return changeId;
}

function creditAll(run: string, campaign: string): Omit<SubmitInput, 'target' | 'requestKey'> {
  const raw = `UPDATE customers SET credit_cents = credit_cents + 500, note = '${campaign} ${run}'`;
  return { sourceTool: 'SQLDryRun', raw, metadata: { table_name: 'customers', affected_rows: 2000 } };
}

async function rejectedUpdate(stage: Stage): Promise<string> {
  const before = await stage.shop.checksum('customers');
  const { changeId } = await stage.submit(creditAll(stage.run, 'spring credit'));
  const status = await stage.waiting(changeId);
  const [first, ...others] = humanViolations(status);
  await stage.answer(status, 'alice', 'confirm', first === undefined ? [] : [first], 'The campaign is agreed');
  await stage.answer(status, 'bob', 'reject', others.slice(0, 1), 'Not for closed accounts');
  const result = await stage.result(changeId);
  const after = await stage.shop.checksum('customers');
  stage.say(`  checksum of customers: ${before.slice(0, 16)} before, ${after.slice(0, 16)} after`);
  if (result.state === 'ROLLED_BACK' && before !== after)
    throw new Error('The table changed, although the change was rejected');
  return changeId;
}

async function confirmedUpdate(stage: Stage): Promise<string> {
  const { changeId } = await stage.submit(creditAll(stage.run, 'summer credit'));
  const status = await stage.waiting(changeId);
  const ids = humanViolations(status);
  await stage.answer(status, 'alice', 'confirm', ids.slice(0, -1), 'Signed off by marketing');
  await stage.answerByTemporalCli(status, 'bob', 'confirm', ids.slice(-1), 'Updating the whole table is intended');
  await stage.result(changeId);
  const [row] = await stage.shop.query<{ n: string }>(`select count(*) as n from customers where note = $1`, [
    `summer credit ${stage.run}`,
  ]);
  stage.say(`  rows changed: ${row?.n ?? '0'}, as in the dry run`);
  return changeId;
}

async function hiddenDrop({ shop, run, submit, result, say }: Stage): Promise<string> {
  const raw = `DO $$ BEGIN /* tidy up ${run} */ EXECUTE E'DR\\x4fP TABLE pay' || 'ments'; END $$`;
  const { changeId } = await submit({ sourceTool: 'SQLDryRun', raw, metadata: { table_name: 'customers' } });
  await result(changeId);
  const [row] = await shop.query<{ n: string }>('select count(*) as n from payments');
  say(`  payments is still there, with ${row?.n ?? '0'} rows`);
  return changeId;
}

async function staleRow(stage: Stage): Promise<string> {
  const [payment] = await stage.shop.query<{ version: number }>('select version from payments where id = 7');
  const change = {
    rows: [
      {
        table: 'public.payments',
        key: { id: 7 },
        expect: { version: payment?.version ?? 1 },
        set: { state: `disputed ${stage.run}` },
      },
    ],
  };
  const { changeId } = await stage.submit({
    sourceTool: 'SQLCAS',
    raw: JSON.stringify(change),
    metadata: { table_name: 'payments', affected_rows: 1 },
  });
  const status = await stage.waiting(changeId);
  await stage.shop.query(`update payments set version = version + 1, state = 'settled' where id = 7`);
  stage.say('  while the review waits, another client changes payment 7');
  await stage.answer(status, 'alice', 'confirm', humanViolations(status), 'Dispute opened by the bank');
  await stage.result(changeId);
  const [after] = await stage.shop.query<{ state: string }>('select state from payments where id = 7');
  if (status.violations.length > 0 && after?.state !== 'settled') throw new Error('A stale change was applied');
  return changeId;
}

async function judgeConcern(stage: Stage): Promise<string> {
  const { changeId } = await stage.submit({
    sourceTool: 'SQLDryRun',
    raw: `UPDATE customers SET email = 'archive+${stage.run.toLowerCase()}@partner.example' WHERE id = 17`,
    metadata: { table_name: 'customers', affected_rows: 1 },
  });
  const status = await stage.waiting(changeId);
  const judge = status.findings.find((f) => f.validatorId === 'guardian.llm_judge');
  stage.say(`  the judge: ${judge?.reason ?? ''} [${judge?.evidenceRefs[0] ?? ''}]`);
  await stage.answer(status, 'bob', 'confirm', humanViolations(status), 'The customer asked for it in writing');
  await stage.result(changeId);
  return changeId;
}

async function refund({ shop, refundByWorkflow, say }: Stage): Promise<string> {
  const changeId = await refundByWorkflow(23, 1_990);
  const [order] = await shop.query<{ status: string }>('select status from orders where id = 23');
  say(`  order 23 is ${order?.status ?? 'gone'}, written by the requester after it verified the receipt`);
  return changeId;
}
