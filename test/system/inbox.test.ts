import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answerStatements } from '../../client/answer-statements';
import { readReview } from '../../client/read-review';
import { startProcess, type RunningProcess } from '../../workers/start-process';
import { toBase64Url } from '../../policy/evidence/base64';
import {
  loginChallenge,
  passkeyChallenge,
  statementDigest,
  passkeyEnvelopes,
} from '../../policy/evidence/passkey-challenge';
import { parseEvidence } from '../../policy/evidence/bundle';
import type { Envelope } from '../../policy/contracts/diff';
import type { EvidenceTrust } from '../../signing/verify-evidence';
import type { InboxSession, ReviewList } from '../../gateway/inbox/api';
import { oneTimeKeyOf, signPasskeyEnrollment } from '../../signing/enrollment-link';
import { openDatabase } from '../../storage/database/database';
import { createEnrollments } from '../../storage/keys/enrollments';
import { newLink } from '../../storage/keys/new-link';
import { compiled } from '../support/compiled';
import { eventually } from '../support/eventually';
import { reusablePort } from '../support/listening-port';
import { testPasskey, type TestPasskey, type Touch } from '../support/passkey';
import { registrationOf } from '../support/registration';
import { SHOP } from '../support/shop-bundle';
import { useSystem } from '../support/system';
import { gatewayEnv } from '../support/system-env';
import { waitingPrice } from './scenarios';

const alice = testPasskey('alice in the inbox');
const bob = testPasskey('bob in the inbox', { algorithm: 'EdDSA' });
const VALID_MS = 3_600_000;

const dir = mkdtempSync(join(tmpdir(), 'countersign-inbox-'));
const system = useSystem({ ...SHOP, name: 'inbox' });
let gateway: RunningProcess;
let origin: string;

beforeAll(async () => {
  const dist = await compiled();
  const port = await reusablePort();
  origin = `http://localhost:${port}`;
  const env = { ...gatewayEnv(system, port), COUNTERSIGN_PUBLIC_URL: origin };
  gateway = await startProcess('gateway', env, dir, () => {}, join(dist, 'workers', 'gateway.js'));
});
afterAll(async () => {
  await gateway.stop();
  rmSync(dir, { recursive: true, force: true });
});

const cookies = new Map<string, string>();

async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Response> {
  const headers = {
    cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    ...(method === 'GET' ? {} : { origin, 'content-type': 'application/json' }),
  };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${origin.replace('localhost', '127.0.0.1')}/inbox/api/${path}`, {
    method,
    headers,
    ...sent,
  });
  for (const line of response.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    cookies.set(name, value);
  }
  return response;
}

async function json<T>(response: Response): Promise<T> {
  const text = await response.text();
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}

const touch = (): Touch => ({ rpId: 'localhost', clientData: { origin } });

/** A link of the operator, opened and used. */
async function enroll(person: string, passkey: TestPasskey): Promise<void> {
  const { operator } = system.setup.keys;
  const db = openDatabase({ url: system.setup.databaseUrls.cs_operator, applicationName: 'test' });
  const { link } = await newLink(
    createEnrollments({ db, trustedOperators: [operator.key.publicKey] }),
    { person, tenants: ['default'], publicUrl: origin, validMs: VALID_MS, now: new Date() },
    { ...operator.key, demo: true },
  );
  await db.close();
  const key = oneTimeKeyOf(new URL(link).hash);
  if (key === null) throw new Error(`The link has no key: ${link}`);
  const { offer, challenge } = await json<{ offer: Envelope; challenge: string }>(
    await call('POST', 'enroll/begin', { keyId: key.keyId }),
  );
  const { credentialId, publicKey } = passkey.key;
  const envelope = signPasskeyEnrollment(key, offer, { credentialId, publicKey, enrolledAt: new Date().toISOString() });
  const made = registrationOf(passkey.key, challenge, { rpId: 'localhost', origin });
  expect(await json(await call('POST', 'enroll/finish', { envelope, ...made }))).toEqual({ person });
}

async function login(passkey: TestPasskey): Promise<InboxSession> {
  const { challenge } = await json<{ challenge: string }>(await call('POST', 'login/begin', {}));
  const { authenticatorData, clientDataJSON, signature } = passkey.assert(loginChallenge(challenge), touch());
  return await json<InboxSession>(
    await call('POST', 'login/finish', {
      credentialId: passkey.key.credentialId,
      authenticatorData: toBase64Url(authenticatorData),
      clientDataJSON: toBase64Url(clientDataJSON),
      signature: toBase64Url(signature),
    }),
  );
}

/** Collects the event stream of the session. */
async function listen(): Promise<{ readonly text: () => string; readonly ended: Promise<void> }> {
  const response = await call('GET', 'events');
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  let text = '';
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true });
  };
  return { text: () => text, ended: read() };
}

test('a person enrols with a link, logs in, is notified of a change, verifies it, answers with the passkey, and it is committed', async () => {
  await enroll('alice', alice);
  const session = await login(alice);
  expect(session).toMatchObject({ person: 'alice', tenants: ['default'], rpId: 'localhost' });
  const events = await listen();
  await eventually('the services', () => events.text().includes('"type":"services","database":true,"temporal":true'));

  const { changeId } = await system.submit(waitingPrice(1));
  await system.waiting(changeId);
  await eventually('an event of the change', () => events.text().includes(`"changeId":"${changeId}"`));
  const turn = await json<ReviewList>(await call('GET', 'reviews?tab=turn'));
  expect(turn.items).toMatchObject([
    { changeId, state: 'INTERVENTION_REQUIRED', waitingForYou: [{ rule: expect.any(String) }] },
  ]);
  expect(turn.turnCount).toBe(1);

  const trust = await json<EvidenceTrust>(await call('GET', 'trust'));
  const evidence = parseEvidence(await (await call('GET', `reviews/${changeId}/bundle`)).text());
  if (!evidence.ok) throw new Error(evidence.problem);
  const review = readReview(changeId, evidence.bundle, trust);
  expect(review.preview).not.toBeNull();

  const violationIds = review.status.violations.filter(({ need }) => need === 'human').map((v) => v.violationId);
  const now = new Date();
  const statements = answerStatements(
    changeId,
    review,
    { violationIds, decision: 'confirm', reason: 'seen', coverage: new Map(violationIds.map((id) => [id, 1])) },
    session.keyId,
    { issuedAt: now, expiresAt: new Date(now.getTime() + VALID_MS) },
  );
  const assertion = alice.assert(passkeyChallenge(statements.map(statementDigest)), touch());
  const answers = passkeyEnvelopes(statements, session.keyId, assertion);
  const results = await json<Record<string, { code: string }>>(
    await call('POST', `reviews/${changeId}/answers`, { answers }),
  );
  expect(Object.values(results).map(({ code }) => code)).toEqual(violationIds.map(() => 'accepted'));
  expect(await system.ended(changeId)).toMatchObject({ state: 'COMMITTED', verified: true });
  expect((await json<ReviewList>(await call('GET', 'reviews?tab=turn'))).items).toEqual([]);
  const all = await json<ReviewList>(await call('GET', `reviews?tab=all&search=${changeId.slice(0, 12)}`));
  expect(all.items).toMatchObject([{ changeId, state: 'COMMITTED' }]);
});

test('what the page could not verify has a row in the ledger, once for each difference', async () => {
  const { changeId } = await system.submit(waitingPrice(2));
  await system.waiting(changeId);
  const report = { differences: [{ name: 'findingsSha', detail: 'expected a, got b' }] };
  for (let i = 0; i < 2; i++) expect((await call('POST', `reviews/${changeId}/differences`, report)).status).toBe(204);
  const rows = (await system.ledger(changeId)).filter(({ row }) => row.kind === 'refused');
  expect(rows.map(({ row }) => row.body)).toEqual([
    {
      check: 'inbox: difference',
      explanation: 'The inbox of alice could not verify: findingsSha: expected a, got b',
      person: 'alice',
      keyId: expect.any(String),
    },
  ]);
  const evidence = parseEvidence(await (await call('GET', `reviews/${changeId}/bundle`)).text());
  if (!evidence.ok) throw new Error(evidence.problem);
  readReview(changeId, evidence.bundle, await json<EvidenceTrust>(await call('GET', 'trust')));
});

test('a revoked passkey ends the session and its event stream', async () => {
  const events = await listen();
  const { keyId } = await json<InboxSession>(await call('GET', 'session'));
  await system.revokeKey(keyId);
  await eventually('the end of the session', async () => (await call('GET', 'session')).status === 401, {
    everyMs: 100,
  });
  await events.ended;
});

test('the gateway stops while pages are open', async () => {
  await enroll('bob', bob);
  await login(bob);
  const events = await listen();
  await gateway.stop();
  await events.ended;
});
