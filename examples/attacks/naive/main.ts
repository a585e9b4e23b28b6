/**
 * `npm run attacks:naive`: sends the same forged approval to a plain approval workflow and to Countersign. Exits 0 if it
 * succeeds on the plain workflow and fails on Countersign; with --json one line goes to standard output.
 */
import { DefaultLogger, Runtime } from '@temporalio/worker';
import Table from 'cli-table3';
import { answerRefused, refundOrder, unsignedAnswers } from '../attack';
import { Testbed } from '../testbed';
import { query } from '../../../dev/query';
import { runProgram, say } from '../../../dev/run-program';
import { bundleWorkflows, startWorker } from '../../../dev/start-worker';

const QUEUE = 'naive-approvals';
const ORDER = 1;

interface Side {
  readonly approver: string;
  readonly sent: string;
  readonly answered: string;
  readonly order: string;
}

async function main(json: boolean): Promise<number> {
  const testbed = await Testbed.start(say);
  try {
    const naive = await attackNaive(testbed);
    await testbed.target(`update orders set status = 'paid' where id = ${ORDER}`);
    const ours = await attackOurs(testbed);
    report(naive, ours);
    if (json) process.stdout.write(`${JSON.stringify({ naive, countersign: ours })}\n`);
    return naive.order === 'refunded' && ours.order === 'paid' ? 0 : 1;
  } finally {
    await testbed.close();
  }
}

async function attackNaive(testbed: Testbed): Promise<Side> {
  const worker = await startNaiveWorker(testbed);
  try {
    const { workflow } = testbed.temporal;
    const { raw } = refundOrder(ORDER);
    const handle = await workflow.start('naiveApproval', { taskQueue: QUEUE, workflowId: 'refund-1', args: [raw] });
    // Needs only write access to the namespace, neither a key nor a password of Alice.
    const forged = { approved: true, approver: 'alice' };
    await handle.signal('approve', forged);
    const answered = String(await handle.result());
    return { approver: 'alice', sent: JSON.stringify(forged), answered, order: await orderStatus(testbed) };
  } finally {
    await worker.stop();
  }
}

async function attackOurs(testbed: Testbed): Promise<Side> {
  const status = await testbed.submitAndWait(refundOrder(ORDER));
  const { changeId } = status;
  const [forged] = unsignedAnswers(status);
  await testbed.signal(changeId, [forged]);
  const refusal = await testbed.waitForRow(changeId, answerRefused('unsigned_not_accepted'));
  const answered =
    refusal === null ? 'nothing' : `refused, with a row in the ledger: ${String(refusal.body['message'])}`;
  return { approver: 'alice', sent: JSON.stringify(forged), answered, order: await orderStatus(testbed) };
}

async function startNaiveWorker(testbed: Testbed): Promise<{ stop(): Promise<void> }> {
  const { runtime, setup } = testbed.dev;
  return await startWorker(runtime.temporalAddress, {
    namespace: runtime.namespace,
    taskQueue: QUEUE,
    workflowBundle: await bundleWorkflows(require.resolve('./naive-workflow')),
    // The worker has the target's credentials and executes any SQL that the workflow passes.
    activities: { apply: (sql: string) => query(setup.targetAdminUrls['shop'] ?? '', sql) },
  });
}

async function orderStatus(testbed: Testbed): Promise<string> {
  const [order] = await testbed.target('select status from orders where id = $1', [ORDER]);
  return String(order?.['status']);
}

function report(naive: Side, ours: Side): void {
  const table = new Table({
    head: ['', 'a plain approval workflow', 'Countersign'],
    colWidths: [14, 44, 44],
    wordWrap: true,
    wrapOnWordBoundary: false,
    style: { head: [], border: [] },
  });
  table.push(
    ['forged signal', naive.sent, ours.sent],
    ['result', naive.answered, ours.answered],
    [`order ${ORDER} is`, naive.order, ours.order],
  );
  say(
    `\nAn attacker with write access to the Temporal namespace and without a key approves as Alice.\n${table.toString()}`,
  );
}

runProgram(() => {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  return main(process.argv.includes('--json'));
});
