import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { createBoundedFetch } from '../../../activities/judge/model-client';
import { createJudgeTransport } from '../../../activities/judge/transport';
import { causeOf } from '../../../policy/decide/judge-failure';
import {
  answerTo,
  answering,
  completion,
  sendJson,
  startJudgeServer,
  type ChatRequest,
  type Handler,
  type JudgeServer,
} from '../../support/judge-server';

const KEY = 'sk-loopback-0123456789';
const whole = (request: ChatRequest): string => JSON.stringify(completion(request.model, answerTo(request)));

it.each(['https://model.example/v1', 'https://api.example:8443/v1', 'http://api.example@model.example/v1'])(
  'createBoundedFetch sends nothing to another host: %s',
  async (url) => {
    const sent = jest.spyOn(globalThis, 'fetch');
    await expect(createBoundedFetch('api.example')(url, { body: '{}' })).rejects.toMatchObject({
      judgeCause: 'host_not_allowed',
      retryable: false,
    });
    expect(sent).not.toHaveBeenCalled();
    sent.mockRestore();
  },
);

describe('createBoundedFetch under the transport', () => {
  let server: JudgeServer;
  beforeAll(async () => {
    server = await startJudgeServer(answering());
  });
  afterAll(() => server.stop());

  const ask = (handler: Handler) => {
    server.clear();
    server.use(handler);
    return createJudgeTransport({ baseUrl: server.baseUrl, apiKey: KEY }).ask(
      {
        model: 'm',
        instructions: 'é',
        message: '{}',
        jsonSchema: {},
        structuredOutput: 'preferred',
        maxTokens: 0,
        acceptedModels: [],
        cacheKey: 'c',
      },
      { signal: new AbortController().signal, deadlineMs: 30_000 },
    );
  };

  it('sends a content-length header, although the body can be read only once', async () => {
    await expect(ask(answering())).resolves.toMatchObject({ model: 'm' });
    const [request] = server.requests;
    expect(request?.headers['transfer-encoding']).toBeUndefined();
    expect(request?.headers['content-length']).toBe(String(Buffer.byteLength(request?.body ?? '')));
  });

  it.each<[string, Handler]>([
    ['behind a byte order mark', (response, request) => sendJson(response, 200, `\ufeff${whole(request)}`)],
    [
      'compressed, although the request did not allow it',
      (response, request) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync(whole(request)));
      },
    ],
    [
      'over HTTP/1.0, terminated by closing the connection',
      (response, request) => {
        response.socket?.end(`HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n${whole(request)}`);
      },
    ],
    [
      'after early hints',
      (response, request) => {
        response.socket?.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(20));
        sendJson(response, 200, whole(request));
      },
    ],
    [
      'without usage and with an unknown finish reason',
      (response, request) => {
        const { choices, ...rest } = completion(request.model, answerTo(request), { usage: null });
        const [choice] = choices as object[];
        sendJson(response, 200, { ...rest, choices: [{ ...choice, finish_reason: 'eos' }] });
      },
    ],
  ])('accepts an answer that arrives %s', async (_, handler) => {
    await expect(ask(handler)).resolves.toMatchObject({ text: expect.stringContaining('"verdict":"ALLOW"') });
    expect(server.requests).toHaveLength(1);
  });

  it.each<[string, Handler]>([
    ['model', (response, request) => sendJson(response, 200, completion(KEY, answerTo(request)))],
    ['answer', (response, request) => sendJson(response, 200, completion(request.model, `${KEY} ${whole(request)}`))],
    ['request id', (response, request) => sendJson(response, 200, whole(request), { 'x-request-id': `req ${KEY}` })],
    [
      'error code',
      (response) => sendJson(response, 400, { error: { message: KEY, type: KEY, code: KEY } }, { 'x-request-id': KEY }),
    ],
  ])('rejects an answer that contains our key as its %s, and does not reveal the key', async (_, handler) => {
    const failure = await ask(handler).catch((error: unknown) => error);
    expect(causeOf((failure as Error).message)).toMatch(/^(?:bad_envelope|bad_request)$/);
    expect(inspect(failure, { depth: 10 })).not.toContain(KEY);
  });
});
