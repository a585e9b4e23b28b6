import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import { Countersign } from '../../client/countersign';
import { GatewayClient, type GatewayClientOptions } from '../../client/gateway-client';
import { GatewayHttp } from '../../client/gateway-http';
import { createSigner } from '../../client/signer';
import type { ReceiptTrust } from '../../client/receipt';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { ledgerHash, type LedgerRow } from '../../policy/contracts/ledger';
import { withChecksum, type EvidenceBundle } from '../../policy/evidence/bundle';
import type { StoredRow } from '../../policy/evidence/chain';
import { newKeyPair } from '../../signing/keys';
import { evidenceWorld } from '../support/review/evidence-world';
import { fakeTemporal } from './fake-temporal';
import { hex } from './fakes';

const serviceKey = createSigner(newKeyPair());
let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function client(options: Partial<GatewayClientOptions>): GatewayClient {
  return new GatewayClient({ baseUrl: 'https://gateway.example', tenant: 'acme', serviceKey, ...options });
}

const submission = { target: 'shop', sourceTool: 'SQLDryRun', raw: 'select 1', inline: true };
const mayHaveEffect = { code: 'gateway_unavailable', message: expect.stringContaining('may have taken effect') };

it('ends a response that trickles after the time-out, also if garbage was collected meanwhile, and closes its socket', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  let closed: () => void;
  const socketClosed = new Promise<void>((resolve) => (closed = resolve));
  const baseUrl = await serve((_request, response) => {
    response.write('{');
    const trickle = setInterval(() => response.write(' '), 20);
    const collecting = setInterval(collect, 100);
    response.on('close', () => {
      clearInterval(trickle);
      clearInterval(collecting);
      closed();
    });
  });
  const http = new GatewayHttp({ baseUrl, serviceKey });
  await expect(http.call('GET', '/v1/key', null, z.unknown(), { timeoutMs: 1_000 })).rejects.toMatchObject(
    mayHaveEffect,
  );
  await socketClosed;
}, 20_000);

it.each([1, 2])('repeats a request once if the server closed its kept connection: closed %i times', async (times) => {
  const bodies: string[] = [];
  let closes = 0;
  const baseUrl = await serve((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      bodies.push(body);
      if (bodies.length > 1 && closes++ < times) request.socket.destroy();
      else response.end('{}');
    });
  });
  const http = new GatewayHttp({ baseUrl, serviceKey });
  const post = (text: string) => http.call('POST', '/v1/x', Buffer.from(text), z.unknown(), { timeoutMs: 5_000 });
  await post('first');
  if (times === 1) await expect(post('second')).resolves.toEqual({});
  else await expect(post('second')).rejects.toMatchObject(mayHaveEffect);
  expect(bodies).toEqual(['first', 'second', 'second']);
});

it('ends a body that stalls if the time-out has passed before the response is read', async () => {
  let cancelled = false;
  const body = new ReadableStream({ cancel: () => void (cancelled = true) });
  const fetch = async (): Promise<Response> => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return new Response(body);
  };
  const http = new GatewayHttp({ baseUrl: 'https://gateway.example', serviceKey, fetch });
  await expect(http.call('GET', '/v1/key', null, z.unknown(), { timeoutMs: 10 })).rejects.toMatchObject(mayHaveEffect);
  expect(cancelled).toBe(true);
});

it.each<[string, RequestListener]>([
  ['a status without a code', (_request, response) => response.writeHead(502).end('<html>Bad gateway</html>')],
  ['another JSON', (_request, response) => response.end('{"changeId":"constructor"}')],
  ['no JSON', (_request, response) => response.end('<html>')],
  ['no content', (_request, response) => response.writeHead(204).end()],
  ['a status without a body', (_request, response) => response.writeHead(304).end()],
  ['a redirect', (_request, response) => response.writeHead(307, { location: '/elsewhere' }).end()],
  ['fewer bytes than announced', (_request, response) => response.writeHead(200, { 'content-length': '9' }).destroy()],
  ['a closed connection', (request) => request.socket.destroy()],
  ['more bytes than announced as possible', (_request, response) => response.end('x'.repeat(1024 * 1024 + 1))],
])('says that a request may have taken effect if the gateway replies with %s', async (_what, listener) => {
  const gateway = client({ baseUrl: await serve(listener) });
  await expect(gateway.submit(submission)).rejects.toMatchObject(mayHaveEffect);
});

it('asks for the address if a server responds without an error code', async () => {
  const baseUrl = await serve((_request, response) => response.writeHead(405).end());
  await expect(client({ baseUrl }).submit(submission)).rejects.toMatchObject({
    code: 'gateway_unavailable',
    message: expect.stringContaining('HTTP status 405 and without an error code; is it the address of a gateway?'),
  });
});

it('names the code of an error of TLS instead of lines of OpenSSL', async () => {
  const lines = '80BB:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:ssl3_record.c:350:\n';
  const cause = Object.assign(new Error(lines), { library: 'SSL routines', code: 'ERR_SSL_WRONG_VERSION_NUMBER' });
  const fetch = (): Promise<never> => Promise.reject(new TypeError('fetch failed', { cause }));
  await expect(client({ fetch }).submit(submission)).rejects.toMatchObject({
    message: expect.stringContaining('did not answer: ERR_SSL_WRONG_VERSION_NUMBER. The request'),
  });
});

const forOther = { changeId: hex('d'), planHash: hex('1'), provisional: true, forbidden: false, findings: [] };
it.each([
  { changeId: hex('d'), preflight: 'pending', outcome: null },
  { changeId: client({}).prepare(submission).changeId, preflight: forOther, outcome: null },
])('says that a change may have been submitted if the gateway answers for another one (%#)', async (said) => {
  await expect(client({ fetch: async () => Response.json(said) }).submit(submission)).rejects.toMatchObject({
    code: 'not_verified',
    message: expect.stringContaining('may have been submitted'),
  });
});

it.each([0.5, 1500.5, 2 ** 31, 2 ** 32, Infinity])(
  'waits for the reply to a submission with a time-out of %d ms',
  async (timeoutMs) => {
    const fetch = async (_url: unknown, { signal }: RequestInit): Promise<Response> => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(signal?.aborted).toBe(false);
      const { changeId } = client({}).prepare(submission);
      return Response.json({ changeId, preflight: 'pending', outcome: null });
    };
    const gateway = client({ fetch: fetch as typeof globalThis.fetch });
    await expect(gateway.submit(submission, { timeoutMs })).resolves.toMatchObject({ preflight: 'pending' });
  },
);

it('asks the gateway to wait for whole milliseconds', async () => {
  const asked: string[] = [];
  const fetch = async (url: URL): Promise<Response> => {
    asked.push(url.search);
    return Response.json({ state: 'ABORTED', why: 'terminated' });
  };
  await client({ fetch: fetch as typeof globalThis.fetch }).result(hex('c'), { timeoutMs: 29_999.5 });
  expect(asked).toEqual([expect.stringMatching(/^\?waitMs=\d+$/)]);
});

it.each([Number.NaN, -1, '60000'])('refuses the time-out %p before anything is sent', async (timeoutMs) => {
  const fetch = jest.fn();
  const clients = [
    client({ fetch }),
    new Countersign({ temporal: fakeTemporal({}).client, tenant: 'acme', store: null }),
  ];
  for (const each of clients) {
    const bounds = { timeoutMs: timeoutMs as number };
    const refusal = { code: 'invalid_input', message: expect.stringContaining('timeoutMs: expected a number') };
    await expect(each.result(hex('c'), bounds)).rejects.toMatchObject(refusal);
    await expect(each.submit(submission, bounds)).rejects.toMatchObject(refusal);
  }
  expect(fetch).not.toHaveBeenCalled();
});

it('verifies no result from the rows of another change, or with its receipt or other words', async () => {
  const world = evidenceWorld({ checkpoint: false });
  const { changeId } = await world.review({ table: 'public.items' });
  const own = await world.export(changeId);
  const other = await world.export((await world.review({ table: 'public.other' })).changeId);
  const receiptOf = ({ rows }: EvidenceBundle): StoredRow => rows.find(({ row }) => row.kind === 'receipt')!;
  const withReceipt = (body: LedgerRow['body']): EvidenceBundle =>
    withChecksum({
      ...own,
      rows: own.rows.map((stored) => {
        if (stored !== receiptOf(own)) return stored;
        const row = { ...stored.row, body };
        return { row, hash: ledgerHash(row) };
      }),
    });
  const resultOf = async (bundle: EvidenceBundle, trust: ReceiptTrust): Promise<unknown> => {
    const fetch = async (url: URL): Promise<Response> =>
      url.pathname.endsWith('/result')
        ? Response.json({ state: 'COMMITTED', verified: true })
        : new Response(`${canonicalJson(bundle)}\n`);
    return (await client({ fetch: fetch as typeof globalThis.fetch, trust }).result(changeId)) as unknown;
  };
  const { committers } = world.trust;
  for (const trust of [world.trust, { committers }]) {
    await expect(resultOf(own, trust)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
    const hostile = [
      other,
      withChecksum({ ...other, changeId }),
      withChecksum({ ...own, rows: own.rows.slice(0, 3) }),
      withReceipt(receiptOf(other).row.body),
      withReceipt({ ...receiptOf(own).row.body, explanation: 'other words' }),
    ];
    for (const bundle of hostile) await expect(resultOf(bundle, trust)).resolves.toMatchObject({ verified: false });
  }
});

it.each([
  'https://user:secret@gateway.example',
  'ftp://user:secret@gateway.example',
  'https://user:secret@gateway.example:port',
])('refuses a URL with a password without printing it', (baseUrl) => {
  const create = (): unknown => client({ baseUrl });
  expect(create).toThrow('baseUrl: expected a');
  expect(create).not.toThrow('secret');
});
