/**
 * `npm run demo`: an agent submits seven changes to a small shop, on a real Temporal server and a real PostgreSQL. Progress
 * goes to standard error; with --json one line goes to standard output.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { Countersign } from '../../client/countersign';
import { GatewayClient } from '../../client/gateway-client';
import { createSigner } from '../../client/signer';
import type { ReviewStatus } from '../../policy/contracts/status';
import { startDev, type Dev } from '../../dev/start';
import { bundleWorkflows, startWorker } from '../../dev/start-worker';
import { RuntimeInUse } from '../../dev/embedded/runtime';
import { ConfigError } from '../../workers/config-error';
import { stateDirOf } from '../../workers/local-client';
import { openConnection } from '../../workers/temporal';
import { answerAtTerminal } from './answer-at-terminal';
import { answerByCli, answerByGateway } from './answers';
import { CASES, type Case, type Stage } from './cases';
import { chooseJudge } from './choose-judge';
import { inboxLinks } from './inbox-links';
import { createRefundActivities } from './refund-activities';
import type { RefundResult } from './refund-workflow';
import { endedAsExpected, report, type Row } from './report';
import { seedShop, Shop } from './shop';
import { readOptions, runProgram, say } from '../../dev/run-program';

const REFUND_QUEUE = 'demo-refunds';
const ANSWER_MS = 60_000;
const INTERACTIVE_MS = 3_600_000;

interface Options {
  readonly json: boolean;
  readonly interactive: boolean;
  readonly keep: boolean;
  readonly rotate: boolean;
}

async function main(options: Options): Promise<number> {
  const judge = await chooseJudge();
  const stateDir = stateDirOf(process.env);
  const run = new Date().toISOString().replaceAll(/[-:.]/g, '');
  const template = readFileSync(
    join(__dirname, '..', '..', '..', 'examples', 'demo', 'countersign.policy.yaml'),
    'utf8',
  );
  let dev: Dev | undefined;
  try {
    dev = await startDev({
      stateDir,
      say,
      bundleText: template.replaceAll('${JUDGE_MODEL}', judge.model),
      targets: [{ name: 'shop', seed: seedShop }],
      judge: { baseUrl: judge.baseUrl, apiKey: judge.apiKey },
      extensions: join(__dirname, 'extension.js'),
      rotate: options.rotate,
      // One tenant for each run. Circuit breakers belong to a tenant and outlive a run; with one tenant, the changes that a few
      // runs in a row reject on purpose would open the breaker of `sql_affected_rows`, and case 1 would wait for a person.
      tenant: `demo-${run}`,
    });
    dev.runtime.beforeStop(async () => judge.server?.stop());
    const rows = await play(dev, options, { run, model: judge.model });
    report(rows, dev, options.json);
    if (options.keep) await keepOpen(dev);
    // A person or a real model may decide otherwise.
    const scripted = !options.interactive && judge.server !== null;
    const asExpected = !scripted || endedAsExpected(rows);
    return asExpected && rows.every((row) => row.verified) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof RuntimeInUse || error instanceof ConfigError)) throw error;
    say(error.message);
    return 1;
  } finally {
    await dev?.stop();
    await judge.server?.stop();
  }
}

async function play(
  dev: Dev,
  options: Options,
  { run, model }: { readonly run: string; readonly model: string },
): Promise<Row[]> {
  const { runtime, setup } = dev;
  const tenant = `demo-${run}`;
  const connection = await openConnection({ ...process.env, TEMPORAL_ADDRESS: runtime.temporalAddress });
  const temporal = new Client({ connection, namespace: runtime.namespace });
  const { operator, committer } = setup.keys;
  const trust = { operators: [operator.key.publicKey], committers: [committer.key.publicKey] };
  const clientOf = (name: 'agent' | 'alice' | 'bob'): GatewayClient =>
    new GatewayClient({ baseUrl: dev.gatewayUrl, tenant, serviceKey: createSigner(setup.keys[name].key), trust });
  const gateway = clientOf('agent');
  const shop = new Shop(setup.targetAdminUrls['shop'] ?? '');
  const serviceKey = createSigner(setup.keys.agent.key);
  const countersign = new Countersign({ temporal, tenant, store: null, serviceKey, trust });
  const refunds = await startRefundWorker(dev, countersign, shop, trust);
  const waitMs = options.interactive ? INTERACTIVE_MS : ANSWER_MS;
  const stage: Stage = {
    shop,
    run,
    say,
    submit: (input) => gateway.submit({ ...input, target: 'shop', requestKey: `demo ${run}` }),
    waiting: (changeId) => waiting(gateway, changeId),
    answer: options.interactive
      ? (status) =>
          answerAtTerminal(clientOf('alice'), status, (of, { person, decision, violationId, reason }) =>
            answerByGateway(dev, clientOf, of, person, decision, [violationId], reason),
          )
      : (...args) => answerByGateway(dev, clientOf, ...args),
    answerByTemporalCli: options.interactive ? async () => {} : (...args) => answerByCli(dev, ...args),
    result: (changeId) => gateway.result(changeId, { timeoutMs: waitMs }),
    refundByWorkflow: async (orderId, amountCents) => {
      const handle = await temporal.workflow.start('refundRequester', {
        taskQueue: REFUND_QUEUE,
        workflowId: `refund-${orderId}-${run}`,
        args: [{ orderId, amountCents, why: `damaged parcel ${run}` }, `demo ${run}`],
      });
      return ((await handle.result()) as RefundResult).changeId;
    },
  };
  if (options.interactive) await sayLinks(dev, tenant);
  try {
    const rows: Row[] = [];
    for (const each of CASES) rows.push(await playCase(each, stage, gateway, model));
    return rows;
  } finally {
    await refunds();
    await connection.close();
  }
}

async function playCase(each: Case, stage: Stage, reviews: GatewayClient, model: string): Promise<Row> {
  say(`\n${each.id}. ${each.title}`);
  const changeId = await each.run(stage);
  const result = await reviews.result(changeId, { timeoutMs: ANSWER_MS });
  if (result.state === 'PENDING' || result.state === 'ABORTED')
    throw new Error(`Case ${each.id}: the review ${changeId} is ${result.state}`);
  const { outcome, verified } = result;
  for (const v of outcome.violations) say(`  violation ${v.validatorId}: ${v.message}`);
  const judged = outcome.findings.find((f) => f.validator_id === 'guardian.llm_judge');
  say(
    `  ${outcome.state}${outcome.reason === null ? '' : ` (${outcome.reason})`}; ${model}: ${judged?.status ?? 'none'}; receipt ${verified ? 'verified' : 'NOT verified'}`,
  );
  return {
    id: each.id,
    outcome: outcome.state,
    reason: outcome.reason,
    mode: outcome.mode,
    workflowId: changeId,
    violations: outcome.violations.length,
    verified,
  };
}

async function waiting(reviews: GatewayClient, changeId: string): Promise<ReviewStatus> {
  for (const until = Date.now() + ANSWER_MS; Date.now() < until; await pause(100)) {
    const status = await reviews.status(changeId);
    // Any state but RUNNING: with a real model the review may already be closed.
    if (status.state !== 'RUNNING') return status;
  }
  throw new Error(`Review ${changeId} disclosed nothing within ${ANSWER_MS / 1000} s`);
}

/** --interactive: how to answer in a browser. */
async function sayLinks(dev: Dev, tenant: string): Promise<void> {
  say(`\nAnswer in the inbox or here. Each link enrols one passkey in your browser, once:`);
  for (const { person, link } of await inboxLinks(dev, tenant)) say(`  ${person}: ${link}`);
  say(`After that: ${dev.inboxUrl}`);
}

async function startRefundWorker(
  dev: Dev,
  countersign: Countersign,
  shop: Shop,
  trust: { committers: string[] },
): Promise<() => Promise<void>> {
  const { stop } = await startWorker(dev.runtime.temporalAddress, {
    namespace: dev.runtime.namespace,
    taskQueue: REFUND_QUEUE,
    workflowBundle: await bundleWorkflows(require.resolve('./refund-workflow')),
    activities: createRefundActivities({ countersign, shop, trust }),
  });
  return stop;
}

/** At a terminal, keeps the servers running until Ctrl-C so that the printed URLs can be opened. */
async function keepOpen(dev: Dev): Promise<void> {
  say(`\nThe servers keep running. Temporal UI: ${dev.runtime.uiUrl ?? ''}. Press Ctrl-C to stop them.`);
  await new Promise<void>(() => setInterval(() => {}, 60_000));
}

runProgram(() => {
  const { json, interactive, exit, rotate } = readOptions({ interactive: false, exit: false, rotate: false });
  Runtime.install({ logger: new DefaultLogger('WARN') });
  return main({ json, interactive, rotate, keep: !json && !exit && process.stderr.isTTY });
});
