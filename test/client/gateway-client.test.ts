import { Countersign } from '../../client/countersign';
import type { ReceiptTrust } from '../../client/receipt';
import { fakeTemporal } from './fake-temporal';
import { GatewayClient } from '../../client/gateway-client';
import { signAnswers } from '../../client/sign-answers';
import { createSigner } from '../../client/signer';
import { SignedAnswers } from '../../gateway/routes/answers';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { Envelope } from '../../policy/contracts/diff';
import { ledgerHash, type LedgerRow } from '../../policy/contracts/ledger';
import { withChecksum, type EvidenceBundle } from '../../policy/evidence/bundle';
import { messageDigest } from '../../policy/evidence/dsse';
import { newKeyPair } from '../../signing/keys';
import { evidenceWorld } from '../support/review/evidence-world';
import { reviewed, status, violation } from './fakes';

/** The bundle with one more row, which refuses the answer. */
function withRefusal(bundle: EvidenceBundle, answer: Envelope): EvidenceBundle {
  const last = bundle.rows.at(-1)!;
  const row: LedgerRow = {
    ...last.row,
    n: last.row.n + 1,
    prev: last.hash,
    kind: 'answer_refused',
    body: { digest: messageDigest(answer), code: 'not_eligible', message: '' },
  };
  return withChecksum({ ...bundle, rows: [...bundle.rows, { row, hash: ledgerHash(row) }] });
}

it('sends more answers than fit in one request in several, and merges their results in order', async () => {
  const world = evidenceWorld({ checkpoint: false });
  const { changeId } = await world.review({ table: 'public.prices', open: true });
  let bundle = await world.export(changeId);
  const sent: number[] = [];
  const receive = (body: Uint8Array): object => {
    const { answers } = SignedAnswers.parse(JSON.parse(Buffer.from(body).toString('utf8')));
    sent.push(answers.length);
    bundle = answers.reduce(withRefusal, bundle);
    return {};
  };
  const serviceKey = createSigner(newKeyPair());
  const client = new GatewayClient({
    baseUrl: 'https://gateway.example',
    tenant: 'acme',
    serviceKey,
    fetch: (async (_url: URL, { method, body }: RequestInit) =>
      new Response(`${canonicalJson(method === 'POST' ? receive(body as Uint8Array) : bundle)}\n`)) as typeof fetch,
  });
  const violationIds = Array.from({ length: 120 }, (_, i) => `${i + 100}`.padEnd(64, 'a'));
  const violations = violationIds.map((violationId) => violation({ violationId }));
  const review = reviewed(status({ changeId, violations }));
  const now = new Date();
  const choice = { violationIds, decision: 'confirm' as const, reason: '' };
  const signed = signAnswers(changeId, review, choice, serviceKey, { issuedAt: now, expiresAt: now });
  const results = await client.answer(changeId, [...signed]);
  expect(sent).toEqual([50, 50, 20]);
  expect(Object.entries(results).map(([id, { code }]) => [id, code])).toEqual(
    violationIds.map((id) => [id, 'not_eligible']),
  );
});

it.each(['ledger_unavailable', 'temporal_unavailable', 'worker_unavailable', 'store_unavailable'])(
  'throws %s if the gateway gives it, since the gateway itself answers',
  async (code) => {
    const client = new GatewayClient({
      baseUrl: 'https://gateway.example',
      tenant: 'acme',
      serviceKey: createSigner(newKeyPair()),
      fetch: async () => Response.json({ error: { code, message: 'away' } }, { status: 503 }),
    });
    await expect(client.status('a'.repeat(64))).rejects.toMatchObject({ code });
  },
);

it.each([
  ['no operators', { committers: ['c'.repeat(64)] }],
  ['no committers', { operators: ['d'.repeat(64)], committers: [] }],
])('gives an open review without its status, as other clients do, if it trusts %s', async (_missing, trust) => {
  const client = new GatewayClient({
    baseUrl: 'https://gateway.example',
    tenant: 'acme',
    serviceKey: createSigner(newKeyPair()),
    trust,
    fetch: async () => Response.json({ state: 'PENDING' }),
  });
  await expect(client.result('a'.repeat(64))).resolves.toEqual({ state: 'PENDING', status: null });
});

it('ends the wait for a result early by its signal; after it, a call still asks once without waiting', async () => {
  const abort = new AbortController();
  const waits: (string | null)[] = [];
  const client = new GatewayClient({
    baseUrl: 'https://gateway.example',
    tenant: 'acme',
    serviceKey: createSigner(newKeyPair()),
    fetch: (async ({ searchParams }: URL, { signal }: RequestInit) => {
      waits.push(searchParams.get('waitMs'));
      if (searchParams.get('waitMs') !== '0')
        await new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
          abort.abort();
        });
      return Response.json({ state: 'PENDING' });
    }) as typeof fetch,
  });
  const result = client.result('a'.repeat(64), { timeoutMs: 3_600_000, signal: abort.signal });
  await expect(result).resolves.toEqual({ state: 'PENDING', status: null });
  expect(waits).toEqual(['30000']);
  await client.result('a'.repeat(64), { timeoutMs: 3_600_000, signal: abort.signal });
  expect(waits).toEqual(['30000', '0']);
});

describe.each<[string, (trust: ReceiptTrust) => unknown]>([
  [
    'GatewayClient',
    (trust) =>
      new GatewayClient({
        baseUrl: 'https://gateway.example',
        tenant: 'acme',
        serviceKey: createSigner(newKeyPair()),
        trust,
      }),
  ],
  [
    'Countersign',
    (trust) => new Countersign({ temporal: fakeTemporal({}).client, tenant: 'acme', store: null, trust }),
  ],
])('%s', (_name, create) => {
  it.each([
    ['committers', { committers: [''] }],
    ['operators', { operators: ['olga.key.json'], committers: [] }],
  ])('refuses trusted %s that are not public keys, and says what was expected', (member, trust) => {
    const expected = new RegExp(`trust\\.${member}.*expected (a public key, )?64 lower-case hex digits`);
    expect(() => create(trust)).toThrow(expected);
  });
});
