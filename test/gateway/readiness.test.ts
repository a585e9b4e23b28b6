import { Readiness, type ServiceProbes } from '../../gateway/readiness';
import { authorizationHeader } from '../../client/request-claim';
import { createSigner } from '../../client/signer';
import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import { sha256Hex } from '../../policy/contracts/hash';
import { newKeyPair } from '../../signing/keys';
import { fakeGateway } from './fake-gateway';

const up = async (): Promise<number> => 1;
const refused = (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7:5432'));
const silent = (): Promise<never> => new Promise(() => undefined);

it.each<[string, ServiceProbes, object]>([
  ['both answer', { database: up, temporal: up }, { ok: true, parts: { database: 'up', temporal: 'up' } }],
  [
    'PostgreSQL refuses',
    { database: refused, temporal: up },
    { ok: false, parts: { database: 'down', temporal: 'up' } },
  ],
  [
    'Temporal never answers',
    { database: up, temporal: silent },
    { ok: false, parts: { database: 'up', temporal: 'down' } },
  ],
  [
    'neither answers',
    { database: silent, temporal: refused },
    { ok: false, parts: { database: 'down', temporal: 'down' } },
  ],
])('names the service that is down: %s', async (_name, probes, expected) => {
  expect(await new Readiness(probes, () => 0, { timeoutMs: 20, maxAgeMs: 1_000 }).check()).toEqual(expected);
});

it('asks at most once a second, however often it is called', async () => {
  let [asked, now] = [0, 0];
  const database = async (): Promise<number> => ++asked;
  const readiness = new Readiness({ database, temporal: up }, () => now);
  await Promise.all([readiness.check(), readiness.check()]);
  now = 999;
  await readiness.check();
  expect(asked).toBe(1);
  now = 1_000;
  await readiness.check();
  expect(asked).toBe(2);
});

it('the log says why a part is down, once until it is up again', async () => {
  const log = { error: jest.fn() };
  let [database, now] = [refused as () => Promise<unknown>, 0];
  const bounds = { timeoutMs: 20, maxAgeMs: 1_000 };
  const readiness = new Readiness({ database: () => database(), temporal: silent }, () => now, bounds, log);
  const check = async (): Promise<void> => void (await readiness.check(), (now += 1_000));
  await check();
  await check();
  const logged = (): unknown[] => log.error.mock.calls.map(([facts]) => facts);
  expect(logged()).toEqual([
    { part: 'database', error: 'connect ECONNREFUSED 10.0.0.7:5432' },
    { part: 'temporal', error: 'no answer within 20 ms' },
  ]);
  database = up;
  await check();
  database = refused;
  await check();
  expect(logged()).toHaveLength(3);
});

it('/readyz of a gateway logs why a part is down', async () => {
  const log = { error: jest.fn() };
  await fakeGateway({ probes: { database: refused, temporal: up }, log }).request('http://gateway/readyz');
  expect(log.error).toHaveBeenCalledWith(
    expect.objectContaining({ part: 'database', error: expect.stringContaining('ECONNREFUSED') }),
    expect.any(String),
  );
});

it('/healthz says that the process is alive, and /readyz which service does not answer, without authentication', async () => {
  const app = fakeGateway({ probes: { database: refused, temporal: up } });
  const health = await app.request('http://gateway/healthz');
  expect([health.status, await health.json()]).toEqual([200, { ok: true }]);
  const ready = await app.request('http://gateway/readyz');
  expect([ready.status, await ready.text()]).toEqual([503, '{"ok":false,"database":"down","temporal":"up"}']);
});

it('answers ledger_unavailable to every request while PostgreSQL is down, and does not say where it is', async () => {
  const down = CountersignFailure.retryable('connect ECONNREFUSED 10.0.0.7:5432', FailureType.Store);
  const app = fakeGateway({ keys: () => Promise.reject(down) });
  const key = newKeyPair();
  const path = '/v1/key';
  const signed = authorizationHeader({ method: 'GET', path, bodySha256: sha256Hex(new Uint8Array()) }, createSigner(key), new Date()); // prettier-ignore
  const answer = await app.request(`http://gateway${path}`, { headers: { authorization: signed } });
  expect(answer.status).toBe(503);
  const text = await answer.text();
  expect(JSON.parse(text)).toMatchObject({ error: { code: 'ledger_unavailable' } });
  expect(text).toContain('PostgreSQL');
  expect(text).not.toContain('10.0.0.7');
});
