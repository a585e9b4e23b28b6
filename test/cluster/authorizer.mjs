// What deploy/temporal-auth.override.yaml turns on: TLS, and an authorizer that reads JWTs whose keys come from a JWKS.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createSign, generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const require = createRequire(join(root, 'package.json'));
const { parse } = require('yaml');
const { msToTs } = require('@temporalio/common/lib/time');
const { openClient } = require(join(root, 'dist/workers/temporal.js'));
const { TASK_QUEUES } = require(join(root, 'dist/policy/contracts/queues.js'));

/** The namespace of docker-compose.yml. */
export const NAMESPACE = 'countersign';
const CALL_MS = 30_000;
const PERMISSION_DENIED = 7;
/** `temporal.api.enums.v1.CommandType`. */
const SCHEDULE_ACTIVITY = 1;

const base64url = (data) => Buffer.from(data).toString('base64url');

/** An identity provider on loopback: it serves its public key as a JWKS and makes tokens. */
export async function startIdentityProvider() {
  const own = keyPair('own');
  const stranger = keyPair('own');
  const jwks = JSON.stringify({
    keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'own', use: 'sig', alg: 'RS256' }],
  });
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(jwks);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/jwks.json`,
    /** A token with these permissions. */
    token: (permissions, { validSeconds = 3_600 } = {}) => tokenOf(own, permissions, validSeconds),
    /** A token of a key that the provider does not publish, under the id of the one that it does. */
    forged: (permissions) => tokenOf(stranger, permissions, 3_600),
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

const keyPair = (kid) => ({ kid, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) });

function tokenOf({ kid, privateKey }, permissions, validSeconds) {
  const now = Math.floor(Date.now() / 1000);
  const claims = { sub: 'test', iat: now - 10, exp: now + validSeconds, permissions };
  const text = `${base64url(JSON.stringify({ alg: 'RS256', typ: 'JWT', kid }))}.${base64url(JSON.stringify(claims))}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey).toString('base64url')}`;
}

/** A certificate for the name `temporal`, and the authority that signed it. */
export function makeCertificates(folder) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const at = (name) => join(folder, name);
  const openssl = (...args) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  writeFileSync(at('leaf.cnf'), 'subjectAltName=DNS:temporal\nbasicConstraints=CA:FALSE\n');
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=Test CA',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  );
  openssl(
    'req',
    '-new',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=temporal',
    '-keyout',
    'temporal.key',
    '-out',
    'temporal.csr',
  );
  openssl(
    'x509',
    '-req',
    '-in',
    'temporal.csr',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-days',
    '2',
    '-extfile',
    'leaf.cnf',
    '-out',
    'temporal.pem',
  );
  return { ca: at('ca.pem'), certificate: at('temporal.pem'), key: at('temporal.key') };
}

/** The environment that the override gives the server, and the one that it gives each client, with the files of this test. */
export function environments({ certificates, jwksUrl }) {
  const { services } = parse(readFileSync(join(root, 'deploy/temporal-auth.override.yaml'), 'utf8'), { merge: true });
  const files = new Map([
    ['/run/secrets/temporal-ca', certificates.ca],
    ['/run/secrets/temporal-cert', certificates.certificate],
    ['/run/secrets/temporal-key', certificates.key],
  ]);
  const withFiles = (environment) =>
    Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [
        name,
        name === 'TEMPORAL_JWT_KEY_SOURCE1' ? jwksUrl : (files.get(value) ?? value),
      ]),
    );
  return { server: withFiles(services.temporal.environment), client: withFiles(services.committer.environment) };
}

/** Asserts which calls each kind of token may make. `clientEnv` leads to the server without a token. */
export async function checkTokens({ provider, clientEnv, say }) {
  const opened = [];
  // Without a call at the start, which an invalid token would fail.
  const as = (token) => {
    const { connection } = openClient({ ...clientEnv, ...(token === null ? {} : { TEMPORAL_API_KEY: token }) });
    opened.push(connection);
    return withDeadlines(connection);
  };
  try {
    const ours = as(provider.token([`${NAMESPACE}:write`, `${NAMESPACE}:worker`]));
    const task = await commitTask(ours);
    const refused = {
      'an agent without a token': as(null),
      'an agent with a token for another namespace': as(provider.token(['agents:write', 'agents:worker'])),
      'a person who only looks': as(provider.token([`${NAMESPACE}:read`])),
      'a forged token': as(provider.forged([`${NAMESPACE}:write`])),
      'a token that has expired': as(provider.token([`${NAMESPACE}:write`], { validSeconds: -5 })),
    };
    for (const [who, service] of Object.entries(refused)) {
      for (const [what, call] of Object.entries(writes(service, task))) await assertDenied(`${who}: ${what}`, call);
      say(`${who}: ${Object.keys(writes(service, task)).length} calls refused`);
    }
    await refused['a person who only looks'].countWorkflowExecutions({ namespace: NAMESPACE });
    await assertDenied('an agent reads', () =>
      refused['an agent with a token for another namespace'].countWorkflowExecutions({ namespace: NAMESPACE }),
    );
    // None of them took the task, so the committer can still complete it.
    await ours.respondActivityTaskCompleted({ namespace: NAMESPACE, taskToken: task.taskToken, identity: 'committer' });
    say('the committer completed its task');
  } finally {
    for (const connection of opened) await connection.close();
  }
}

/** The service of a connection, each call with a deadline, which polls need. */
function withDeadlines(connection) {
  return new Proxy(connection.workflowService, {
    get: (service, name) =>
      typeof service[name] === 'function'
        ? (request) => connection.withDeadline(Date.now() + CALL_MS, () => service[name](request))
        : undefined,
  });
}

/** A workflow that has scheduled `commit` on the committer's queue, and the task that the committer got. */
async function commitTask(service) {
  const namespace = NAMESPACE;
  const review = { name: `${TASK_QUEUES.review}-auth` };
  const commit = { name: `${TASK_QUEUES.commit}-auth` };
  const workflowId = randomUUID();
  await service.startWorkflowExecution({
    namespace,
    workflowId,
    requestId: randomUUID(),
    workflowType: { name: 'review' },
    taskQueue: review,
  });
  const { taskToken } = await service.pollWorkflowTaskQueue({ namespace, taskQueue: review, identity: 'review' });
  await service.respondWorkflowTaskCompleted({
    namespace,
    taskToken,
    identity: 'review',
    commands: [
      {
        commandType: SCHEDULE_ACTIVITY,
        scheduleActivityTaskCommandAttributes: {
          activityId: 'commit',
          activityType: { name: 'commit' },
          taskQueue: commit,
          scheduleToCloseTimeout: msToTs('10 minutes'),
          startToCloseTimeout: msToTs('10 minutes'),
        },
      },
    ],
  });
  const activity = await service.pollActivityTaskQueue({ namespace, taskQueue: commit, identity: 'committer' });
  assert.notEqual(activity.taskToken.length, 0, 'the committer got no task');
  return { workflowId, taskToken: activity.taskToken, queue: commit };
}

/** Every way to take, complete or make a task of the committer, or to disturb the review. */
function writes(service, { workflowId, taskToken, queue }) {
  const namespace = NAMESPACE;
  const workflowExecution = { workflowId };
  const identity = 'intruder';
  return {
    'polls the queue of the committer': () => service.pollActivityTaskQueue({ namespace, taskQueue: queue, identity }),
    'completes its task by token': () => service.respondActivityTaskCompleted({ namespace, taskToken, identity }),
    'completes its task by id': () =>
      service.respondActivityTaskCompletedById({ namespace, workflowId, activityId: 'commit', identity }),
    'fails its task': () => service.respondActivityTaskFailed({ namespace, taskToken, identity }),
    'starts a workflow on its queue': () =>
      service.startWorkflowExecution({
        namespace,
        workflowId: randomUUID(),
        requestId: randomUUID(),
        workflowType: { name: 'review' },
        taskQueue: queue,
      }),
    'signals the review': () =>
      service.signalWorkflowExecution({ namespace, workflowExecution, signalName: 'answer', requestId: randomUUID() }),
    'terminates the review': () => service.terminateWorkflowExecution({ namespace, workflowExecution }),
    'resets the review': () =>
      service.resetWorkflowExecution({
        namespace,
        workflowExecution,
        requestId: randomUUID(),
        workflowTaskFinishEventId: 4,
      }),
  };
}

async function assertDenied(what, call) {
  const outcome = await call().then(
    () => 'allowed',
    (error) => error,
  );
  assert.equal(outcome.code, PERMISSION_DENIED, `${what}: ${outcome === 'allowed' ? outcome : outcome.message}`);
}
