/**
 * `npm run attacks:naive`: the same forged approval, sent to a plain approval workflow and to Countersign, side by side.
 * Ends with 0 where it succeeds there and fails here; with --json one line goes to standard output.
 */
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import Table from 'cli-table3';
import { answerRefused, refundOrder } from '../attack';
import { Ground } from '../ground';
import { createNaiveActivities } from './naive-activities';

const QUEUE = 'naive-approvals';
const ORDER = 1;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

interface Side {
  readonly approver: string;
  readonly sent: string;
  readonly answered: string;
  readonly order: string;
}

async function main(json: boolean): Promise<number> {
  const ground = await Ground.start(say);
  try {
    const naive = await attackNaive(ground);
    await ground.target(`update orders set status = 'paid' where id = ${ORDER}`);
    const ours = await attackOurs(ground);
    report(naive, ours);
    if (json) process.stdout.write(`${JSON.stringify({ naive, countersign: ours })}\n`);
    return naive.order === 'refunded' && ours.order === 'paid' ? 0 : 1;
  } finally {
    await ground.close();
  }
}

async function attackNaive(ground: Ground): Promise<Side> {
  const worker = await startNaiveWorker(ground);
  try {
    const { workflow } = ground.temporal;
    const { raw } = refundOrder(ORDER);
    const handle = await workflow.start('naiveApproval', { taskQueue: QUEUE, workflowId: 'refund-1', args: [raw] });
    // Anybody who can write to the namespace; no key, no password of Alice.
    const forged = { approved: true, approver: 'alice' };
    await handle.signal('approve', forged);
    const answered = String(await handle.result());
    return { approver: 'alice', sent: JSON.stringify(forged), answered, order: await status(ground) };
  } finally {
    await worker.stop();
  }
}

async function attackOurs(ground: Ground): Promise<Side> {
  const { changeId, fingerprint, violations } = await ground.asked(refundOrder(ORDER));
  const [violation] = violations;
  const forged = {
    violationId: violation?.violationId,
    fingerprint,
    decision: 'confirm',
    reason: 'fine',
    actor: 'alice',
  };
  await ground.signal(changeId, [forged]);
  const refusal = await ground.row(changeId, answerRefused('unsigned_not_accepted'));
  const answered = refusal === null ? 'nothing' : `refused, and in the ledger: ${String(refusal.body['message'])}`;
  return { approver: 'alice', sent: JSON.stringify(forged), answered, order: await status(ground) };
}

async function startNaiveWorker(ground: Ground): Promise<{ stop(): Promise<void> }> {
  const { runtime, setup } = ground.dev;
  const connection = await NativeConnection.connect({ address: runtime.temporalAddress });
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: require.resolve('./naive-workflow'),
    logger: new DefaultLogger('WARN'),
  });
  const worker = await Worker.create({
    connection,
    namespace: runtime.namespace,
    taskQueue: QUEUE,
    workflowBundle,
    activities: createNaiveActivities(setup.targetAdminUrls['shop'] ?? ''),
  });
  const ended = worker.run();
  return {
    async stop() {
      worker.shutdown();
      await ended;
      await connection.close();
    },
  };
}

async function status(ground: Ground): Promise<string> {
  const [order] = await ground.target('select status from orders where id = $1', [ORDER]);
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
    ['what came of it', naive.answered, ours.answered],
    [`order ${ORDER} is`, naive.order, ours.order],
  );
  say(
    `\nSomebody who can write to the Temporal namespace, and holds no key, approves in the name of Alice.\n${table.toString()}`,
  );
}

Runtime.install({ logger: new DefaultLogger('WARN') });
main(process.argv.includes('--json')).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exitCode = 1;
  },
);
