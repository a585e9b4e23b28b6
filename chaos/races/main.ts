/**
 * npm run races -- [--calls N] [--seed S] [--open K] [--json]
 *
 * Two processes commit the same and different changes concurrently on a real PostgreSQL; then the sweep's checker inspects
 * target and ledger. Progress goes to standard error; the last line of standard output is one object. Exits 1 on a violation.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setUpDev, type DevSetup } from '../../dev/setup';
import { exited } from '../../dev/embedded/processes';
import { extensionsOf } from '../../workers/extensions';
import { openedClient, query } from '../../dev/query';
import { readOptions, runProgram, say, wholeNumber } from '../../dev/run-program';
import { withTemporaryPostgres } from '../../dev/temporary';
import { roleSetup } from '../../dev/local-roles';
import type { PreparedChange } from '../../bench/committing';
import { ledgersIn, markersIn } from '../stored-facts';
import { violationsOf } from '../sweep/check';
import type { Observed } from '../sweep/rules/review';
import { planRaces, RACE_BUNDLE, type RacePlan } from './plan';
import type { Command, Reply } from './worker';

async function main(calls: number, seed: number, open: number): Promise<number> {
  return await withTemporaryPostgres('races', { say: () => {} }, async (postgres, stateDir) => {
    const plan = planRaces(calls, seed);
    const setup = await setUpDev({
      runtime: { postgres, stateDir },
      extensions: extensionsOf(),
      bundleText: RACE_BUNDLE,
      targets: [{ name: 'shop', seed: (url) => seedRows(url, plan.contests.length) }],
      say: () => {},
    });
    const workers = await Promise.all([0, 1].map(() => startWorker(setup)));
    const ready = await prepare(workers, plan);
    say(`${plan.changes.length} changes in ${plan.contests.length} contests are prepared; seed ${seed}`);
    const began = Date.now();
    const raced = await Promise.all(
      workers.map((worker, i) => ask(worker, { kind: 'race', ready, calls: plan.calls[i] ?? [], open }, 'raced')),
    );
    say(
      `${raced.reduce((n, r) => n + r.states.length, 0)} calls in ${Math.round((Date.now() - began) / 1000)} s, ${raced.reduce((n, r) => n + r.retries, 0)} retries`,
    );
    for (const worker of workers) worker.kill('SIGTERM');
    await Promise.all(workers.map(exited));
    const problems = await check(
      setup,
      postgres.superuserUrl('countersign'),
      plan,
      ready,
      raced.map((r) => r.states),
    );
    for (const problem of problems.slice(0, 50)) say(problem);
    const answered = raced.reduce((n, r) => n + r.states.length, 0);
    process.stdout.write(
      `${JSON.stringify({ calls: answered, changes: plan.changes.length, contests: plan.contests.length, seed, violations: problems.length })}\n`,
    );
    return problems.length === 0 ? 0 : 1;
  });
}

async function seedRows(url: string, rows: number): Promise<void> {
  await query(
    url,
    `create table items (id int primary key, left_cents int not null, right_cents int not null);
     insert into items select i, 0, 0 from generate_series(1, ${rows}) i;
     analyze items`,
  );
}

async function prepare(workers: readonly ChildProcess[], plan: RacePlan): Promise<PreparedChange[]> {
  const ready: PreparedChange[] = [];
  const prepared = await Promise.all(
    workers.map((worker, w) => {
      const mine = [...plan.changes.entries()].filter(([i]) => i % workers.length === w);
      return ask(worker, { kind: 'prepare', changes: mine }, 'prepared');
    }),
  );
  for (const [index, each] of prepared.flatMap((p) => p.ready)) ready[index] = each;
  return ready;
}

async function check(
  setup: DevSetup,
  countersignUrl: string,
  plan: RacePlan,
  ready: readonly PreparedChange[],
  states: readonly (readonly string[])[],
): Promise<string[]> {
  const ids = ready.map(({ input }) => input.changeId);
  const [target, database] = [
    await openedClient(setup.targetAdminUrls['shop'] ?? ''),
    await openedClient(countersignUrl),
  ];
  const { rows } = await target.query<{ id: number; left_cents: number; right_cents: number }>('select * from items');
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const [markerOf, linesOf] = [await markersIn(target, ids), await ledgersIn(database, ids)];
  await Promise.all([target.end(), database.end()]);
  const statesOf = new Map<number, Set<string>>();
  plan.calls.forEach((calls, w) =>
    calls.forEach(({ change }, i) =>
      statesOf.set(change, (statesOf.get(change) ?? new Set()).add(states[w]?.[i] ?? 'nothing')),
    ),
  );

  const problems: string[] = [];
  const committer = setup.keys.committer.key.publicKey;
  plan.contests.forEach(({ kind, changes }, c) => {
    const effects = changes.map((_change, i) => rowOf.get(c + 1)?.[i === 0 ? 'left_cents' : 'right_cents'] ?? -1);
    changes.forEach((change, i) => {
      const changeId = ready[change]?.input.changeId ?? '';
      const observed: Observed = {
        changeId,
        effects: effects[i] ?? -1,
        marker: markerOf.get(changeId) ?? null,
        writtenAt: markerOf.get(changeId)?.at ?? null,
        ledger: linesOf.get(changeId) ?? [],
        workflow: null,
      };
      problems.push(
        ...violationsOf(observed, committer).map((p) => `contest ${c} (${kind}), change ${changeId}: ${p}`),
      );
      const reported = [...(statesOf.get(change) ?? [])];
      const [effect] = effects.slice(i);
      if (reported.length !== 1 || (reported[0] === 'COMMITTED') !== (effect === 1))
        problems.push(
          `contest ${c} (${kind}): the callers got ${reported.join(', ')}, and there are ${effect} effects`,
        );
    });
    const applied = effects.filter((n) => n === 1).length;
    if (kind !== 'rivals' && applied !== 1)
      problems.push(`contest ${c} (${kind}): ${applied} changes were applied, expected one`);
  });
  return problems;
}

async function startWorker(setup: DevSetup): Promise<ChildProcess> {
  const { PATH, HOME } = process.env;
  const child = fork(join(__dirname, 'worker.js'), {
    env: { PATH, HOME, RACE_SETUP: JSON.stringify(roleSetup(setup)) },
  });
  await nextReply(child, 'up');
  return child;
}

function ask<K extends Reply['kind']>(
  worker: ChildProcess,
  command: Command,
  kind: K,
): Promise<Extract<Reply, { kind: K }>> {
  const reply = nextReply(worker, kind);
  worker.send(command);
  return reply;
}

function nextReply<K extends Reply['kind']>(worker: ChildProcess, kind: K): Promise<Extract<Reply, { kind: K }>> {
  return new Promise((resolve, reject) => {
    worker.once('message', (reply: Reply) => {
      if (reply.kind === kind) resolve(reply as Extract<Reply, { kind: K }>);
      else reject(new Error(reply.kind === 'failed' ? reply.why : `Expected a reply ${kind}, got ${reply.kind}`));
    });
    worker.once('exit', (code) => reject(new Error(`A race worker exited with ${code}`)));
  });
}

runProgram(() => {
  const values = readOptions({ calls: '10000', seed: '1', open: '12' });
  const seed = wholeNumber('--seed', values.seed, 0);
  return main(wholeNumber('--calls', values.calls), seed, wholeNumber('--open', values.open));
});
