import type { Connection } from '@temporalio/client';
import { targetFreezes } from '../../activities/committer/target-freezes';
import type { TargetConfig } from '../../activities/committer/targets';
import { describeRepository } from '../../source-tools/git/staging/describe-repository';
import { describeApi } from '../../source-tools/http/staging/describe-api';
import type { TargetLine } from '../../source-tools/target-line';
import { describeTarget } from '../../source-tools/sql/staging/describe-target';
import { openDatabase } from '../../storage/database/database';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import { ConfigError, readTargets, type Env } from '../../workers/config';
import { openConnection } from '../../workers/temporal';
import { localClient, type LocalClient } from '../../workers/local-client';

const TIMEOUT_MS = 5_000;

/** One thing that was checked. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do; null if the check passed. */
  readonly fix: string | null;
}

/** Checks everything that a review needs, without changing anything. Each check has a timeout and says what to do. */
export async function doctor(env: Env): Promise<readonly Check[]> {
  const node = checkNode();
  let local: LocalClient;
  try {
    local = localClient(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [
      node,
      await checkCli(env),
      failed('configuration', error.message, 'Run "countersign dev" in another terminal, or set the variables above'),
    ];
  }
  return [
    node,
    await checkCli(env),
    ...(await checkTemporal(local, env)),
    await checkDatabase(local),
    checkTrust(local),
    ...(await checkTargets(env)),
    ...(await checkFreezes(local)),
  ];
}

function passed(name: string, detail: string): Check {
  return { name, ok: true, detail, fix: null };
}

function failed(name: string, detail: string, fix: string): Check {
  return { name, ok: false, detail, fix };
}

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const fits = major > 20 || (major === 20 && minor >= 19);
  return fits ? passed('Node', process.versions.node) : failed('Node', process.versions.node, 'Install Node 22 or 24');
}

async function checkCli(env: Env): Promise<Check> {
  const { findInstalledCli } = await import('../../dev/embedded/temporal-cli.js');
  const found = await findInstalledCli(env);
  return found === undefined
    ? failed(
        'Temporal CLI',
        'not found',
        'Optional if you run a Temporal server. "countersign dev" downloads or builds it, or set COUNTERSIGN_TEMPORAL_CLI',
      )
    : passed('Temporal CLI', `${found.cliPath} (${found.from})`);
}

async function checkTemporal(local: LocalClient, env: Env): Promise<Check[]> {
  let connection: Connection;
  try {
    connection = await openConnection({ ...env, TEMPORAL_ADDRESS: local.temporalAddress }, TIMEOUT_MS);
  } catch (error) {
    return [
      failed(
        'Temporal server',
        `${local.temporalAddress}: ${error instanceof Error ? error.message : String(error)}`,
        'Start it, or set TEMPORAL_ADDRESS',
      ),
    ];
  }
  try {
    const { serverVersion } = await connection.withDeadline(Date.now() + TIMEOUT_MS, () =>
      connection.workflowService.getSystemInfo({}),
    );
    const suffix = env['COUNTERSIGN_QUEUE_SUFFIX'] ?? '';
    const queues = await Promise.all(
      Object.values(TASK_QUEUES).map((queue) => checkQueue(connection, local.namespace, queue + suffix)),
    );
    return [passed('Temporal server', `${local.temporalAddress}, version ${serverVersion ?? 'unknown'}`), ...queues];
  } finally {
    await connection.close();
  }
}

async function checkQueue(connection: Connection, namespace: string, queue: string): Promise<Check> {
  const answer = await connection.withDeadline(Date.now() + TIMEOUT_MS, () =>
    // 2: activity pollers, which every worker has.
    connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: queue }, taskQueueType: 2 }),
  );
  const pollers = answer.pollers?.length ?? 0;
  return pollers > 0
    ? passed(`queue ${queue}`, `${pollers} poller${pollers === 1 ? '' : 's'}`)
    : failed(`queue ${queue}`, 'no worker polls it', 'Start the worker of this queue; reviews wait until then');
}

async function checkDatabase(local: LocalClient): Promise<Check> {
  const db = openDatabase({
    url: local.databaseUrl,
    applicationName: 'countersign-doctor',
    max: 1,
    connectTimeoutMs: TIMEOUT_MS,
  });
  try {
    const { rows } = await db.query<{ version: number | null; reviews: string }>(
      'select (select max(version) from schema_info) as version, (select count(*) from reviews) as reviews',
    );
    return passed('Countersign database', `schema ${rows[0]?.version ?? 'unknown'}, ${rows[0]?.reviews ?? 0} reviews`);
  } catch (error) {
    return failed(
      'Countersign database',
      error instanceof Error ? error.message : String(error),
      'Start PostgreSQL, check COUNTERSIGN_DATABASE_URL, run "countersign setup"',
    );
  } finally {
    await db.close();
  }
}

function checkTrust(local: LocalClient): Check {
  if (local.committers.length > 0)
    return passed('trust', `${local.committers.length} committer key${local.committers.length === 1 ? '' : 's'}`);
  return failed(
    'trust',
    'no committer key is trusted here: every outcome is unverified',
    'Set COUNTERSIGN_TRUST_FILE to a file that lists the public keys of your operators and committers',
  );
}

async function checkTargets(env: Env): Promise<Check[]> {
  const file = env['COUNTERSIGN_TARGETS_FILE'];
  if (file === undefined) return [];
  const checks: Check[] = [];
  for (const target of readTargets(file).values()) checks.push(...(await checkTarget(target)));
  return checks;
}

async function checkTarget(target: TargetConfig): Promise<Check[]> {
  const { name } = target;
  if ('git' in target)
    return toChecks(`target ${name}`, await describeRepository(target), 'Correct "git" in COUNTERSIGN_TARGETS_FILE');
  if ('http' in target)
    return toChecks(`target ${name}`, await describeApi(target), 'Correct "http" in COUNTERSIGN_TARGETS_FILE');
  const checks: Check[] = [];
  for (const [purpose, url] of [
    ['stage', target.stageUrl],
    ['commit', target.commitUrl],
  ] as const) {
    if (url === null) continue;
    const { lines } = await describeTarget(url, purpose);
    checks.push(...toChecks(`target ${name} (${purpose})`, lines, 'Run "countersign target init"'));
  }
  return checks;
}

function toChecks(name: string, lines: readonly TargetLine[], fix: string): Check[] {
  return lines.map(({ level, text }) => (level === 'fail' ? failed(name, text, fix) : passed(name, text)));
}

/** A frozen target is not an error, but it explains why nothing is committed there. */
async function checkFreezes(local: LocalClient): Promise<Check[]> {
  const db = openDatabase({
    url: local.databaseUrl,
    applicationName: 'countersign-doctor',
    max: 1,
    connectTimeoutMs: TIMEOUT_MS,
  });
  try {
    const { rows } = await db.query<{ target: string }>('select distinct target from target_freezes order by target');
    const checks: Check[] = [];
    for (const { target } of rows) {
      const freeze = await targetFreezes(db, local.operators).current(target);
      if (freeze === 'unknown')
        checks.push(
          failed(
            `target ${target}`,
            'its latest freezes have no trusted signature, and nothing is committed there',
            `Run "countersign target freeze" or "target unfreeze" for it, and find out who wrote those rows`,
          ),
        );
      else if (freeze !== null) checks.push(passed(`target ${target}`, `frozen since ${freeze.at}: ${freeze.reason}`));
    }
    return checks;
  } catch {
    return []; // checkDatabase reports why it cannot be read.
  } finally {
    await db.close();
  }
}
