import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { FailureType } from '../../../policy/contracts/failure-type';
import type { JudgeCause } from '../../../policy/decide/judge-failure';
import { answerTo, completion, saying, sendJson, type Handler } from '../../support/judge-server';

/** One way in which a server misbehaves, and the failure that must result. */
export interface FailureShape {
  readonly id: string;
  readonly handler: Handler;
  readonly type: FailureType;
  readonly cause: JudgeCause;
  readonly retryable: boolean;
  /** Retry delay of the failure, in milliseconds. */
  readonly delayMs?: number;
}

const backend = (
  id: string,
  handler: Handler,
  cause: JudgeCause,
  retryable: boolean,
  delayMs?: number,
): FailureShape => ({
  id,
  handler,
  type: FailureType.Backend,
  cause,
  retryable,
  ...(delayMs === undefined ? {} : { delayMs }),
});
const parse = (id: string, handler: Handler, cause: JudgeCause = 'answer'): FailureShape => ({
  id,
  handler,
  type: FailureType.VerdictParse,
  cause,
  retryable: false,
});

const status =
  (
    code: number,
    body: unknown = { error: { message: 'no', code: null } },
    headers: { readonly [name: string]: string } = {},
  ): Handler =>
  (response) =>
    sendJson(response, code, body, headers);
const coded = (http: number, code: string): Handler =>
  status(http, { error: { message: 'secret words of the server', code, type: code } });
const choice =
  (over: { readonly [key: string]: unknown }, message: { readonly [key: string]: unknown } = {}): Handler =>
  (response, request) =>
    sendJson(
      response,
      200,
      completion(request.model, '', {
        choices: [
          {
            index: 0,
            finish_reason: 'stop',
            ...over,
            message: { role: 'assistant', content: JSON.stringify(answerTo(request)), refusal: null, ...message },
          },
        ],
      }),
    );
const drip = (response: ServerResponse, text: string): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(text), 20);
  response.on('close', () => clearInterval(timer));
};
const raw =
  (text: string): Handler =>
  (response) => {
    response.socket?.end(text);
  };
const edited =
  (edit: (answer: string) => string): Handler =>
  (response, request) =>
    sendJson(response, 200, completion(request.model, edit(JSON.stringify(answerTo(request)))));

const BOMB = gzipSync(Buffer.alloc(8 * 1024 * 1024, ' '));

/** Deadline of a call for these shapes, in milliseconds. */
export const DEADLINE_MS = 3_000;

export const FAILURE_SHAPES: readonly FailureShape[] = [
  backend('400', coded(400, 'context_length_exceeded'), 'bad_request', false),
  backend('401', status(401), 'authentication', false),
  backend('402', status(402), 'quota', false),
  backend('404', coded(404, 'model_not_found'), 'not_found', false),
  backend('408', status(408), 'timeout', true),
  backend('409', status(409), 'http_status', true),
  backend('413', status(413), 'too_large', false),
  backend('429', status(429), 'rate_limited', true),
  backend('429 with retry-after in seconds', status(429, {}, { 'retry-after': '7' }), 'rate_limited', true, 7_000),
  backend(
    '429 with retry-after past a minute',
    status(429, {}, { 'retry-after': '200' }),
    'rate_limited',
    true,
    200_000,
  ),
  backend(
    '429 with retry-after past the cap',
    status(429, {}, { 'retry-after': '86400' }),
    'rate_limited',
    true,
    300_000,
  ),
  backend(
    '429 with retry-after-ms',
    status(429, {}, { 'retry-after-ms': '1500', 'retry-after': '9' }),
    'rate_limited',
    true,
    1_500,
  ),
  backend('429 with an invalid retry-after', status(429, {}, { 'retry-after': 'soon' }), 'rate_limited', true),
  backend('429 with a number in words', status(429, {}, { 'retry-after': 'soon 9999' }), 'rate_limited', true),
  backend(
    '429 with a retry-after date in the past',
    status(429, {}, { 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT' }),
    'rate_limited',
    true,
  ),
  // fetch re-sends the request after a 421 if the body can be replayed.
  backend('421', status(421), 'http_status', false),
  backend('429 quota', coded(429, 'insufficient_quota'), 'quota', false),
  backend(
    '429 with a header that forbids a retry',
    status(429, {}, { 'x-should-retry': 'false' }),
    'rate_limited',
    false,
  ),
  backend('400 content filter', coded(400, 'content_filter'), 'content_filter', false),
  backend(
    '400 with a header that asks for a retry',
    status(400, {}, { 'x-should-retry': 'true' }),
    'bad_request',
    true,
  ),
  backend('500', status(500), 'server_error', true),
  backend(
    '500 with HTML',
    (response) => {
      response.writeHead(500, { 'content-type': 'text/html' });
      response.end('<html>oops</html>');
    },
    'server_error',
    true,
  ),
  backend('503 with retry-after', status(503, {}, { 'retry-after': '3' }), 'server_error', true, 3_000),
  backend('301', status(301, {}, { location: 'http://127.0.0.1:9/v1' }), 'redirect', false),
  backend('307 to another origin', status(307, {}, { location: 'http://localhost:9/elsewhere' }), 'redirect', false),
  backend('308 to itself', status(308, {}, { location: '/v1/chat/completions' }), 'redirect', false),
  backend(
    '204',
    (response) => {
      response.writeHead(204);
      response.end();
    },
    'bad_envelope',
    true,
  ),
  backend(
    '200 with HTML',
    (response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html>sign in</html>');
    },
    'bad_envelope',
    true,
  ),
  backend('200 with broken JSON', status(200, '{"id":"x","choices":[{'), 'not_json', true),
  backend('200 with an error in it', status(200, { error: { message: 'overloaded' } }), 'bad_envelope', true),
  backend(
    '200 with an error beside a verdict',
    (response, request) =>
      sendJson(response, 200, completion(request.model, answerTo(request), { error: { message: 'overloaded' } })),
    'bad_envelope',
    true,
  ),
  backend(
    '200 that is not valid UTF-8',
    (response, request) => {
      const body = Buffer.from(JSON.stringify(completion(request.model, answerTo(request))));
      body[body.indexOf('Changes')] = 0xff;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(body);
    },
    'not_json',
    true,
  ),
  backend(
    'a megabyte packed into a kilobyte',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(BOMB);
    },
    'too_large',
    true,
  ),
  backend(
    'packed, it says, and is not',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end('{}');
    },
    'connection',
    true,
  ),
  backend(
    'two answers in one body',
    (response, request) => {
      const one = JSON.stringify(completion(request.model, answerTo(request)));
      sendJson(response, 200, one + one);
    },
    'not_json',
    true,
  ),
  backend(
    'HTTP/1.0 cut off, without a length that would show it',
    raw('HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{"id":"x","choices":[{'),
    'not_json',
    true,
  ),
  backend(
    'early hints without end',
    (response) => {
      const timer = setInterval(() => response.socket?.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
      response.socket?.on('close', () => clearInterval(timer));
    },
    'timeout',
    true,
  ),
  backend(
    'a redirect with an endless body',
    (response) => {
      response.writeHead(307, { location: 'http://localhost:9/' });
      const write = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    },
    'redirect',
    false,
  ),
  backend(
    'no choices',
    (response, request) => sendJson(response, 200, completion(request.model, '', { choices: [] })),
    'no_choices',
    true,
  ),
  backend(
    'two choices',
    (response, request) => {
      const one = {
        index: 0,
        finish_reason: 'stop',
        message: { role: 'assistant', content: JSON.stringify(answerTo(request)) },
      };
      sendJson(response, 200, completion(request.model, '', { choices: [one, one] }));
    },
    'bad_envelope',
    true,
  ),
  backend(
    'a message that is a string',
    (response, request) => sendJson(response, 200, completion(request.model, '', { choices: [{ message: 'ALLOW' }] })),
    'bad_envelope',
    true,
  ),
  backend('a refusal', choice({}, { content: null, refusal: 'I cannot help with that.' }), 'refusal', false),
  backend('a refusal beside a verdict', choice({}, { refusal: 'No.' }), 'refusal', false),
  backend('an empty refusal', choice({}, { content: null, refusal: '' }), 'refusal', false),
  backend('the content filter', choice({ finish_reason: 'content_filter' }), 'content_filter', false),
  backend("another server's word for the filter", choice({ finish_reason: 'SAFETY' }), 'content_filter', false),
  backend("another server's word for a refusal", choice({ finish_reason: 'refusal' }), 'refusal', false),
  backend('an answer that the server broke off', choice({ finish_reason: 'error' }), 'server_error', true),
  backend('a tool call', choice({ finish_reason: 'tool_calls' }, { tool_calls: [{ id: 'x' }] }), 'bad_envelope', true),
  backend('an unknown finish reason beside a verdict', choice({ finish_reason: 'sensitive' }), 'bad_envelope', false),
  backend(
    'another model',
    (response, request) => sendJson(response, 200, completion('cheaper-model', answerTo(request))),
    'model_mismatch',
    false,
  ),
  backend(
    'a model that only begins the same',
    (response, request) => sendJson(response, 200, completion(`${request.model}-mini`, answerTo(request))),
    'model_mismatch',
    false,
  ),
  backend(
    'no model',
    (response, request) => sendJson(response, 200, completion(request.model, answerTo(request), { model: undefined })),
    'bad_envelope',
    true,
  ),
  backend('reset before the headers', (response) => void response.socket?.destroy(), 'connection', true),
  backend(
    'reset in the body',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' });
      response.write('{"id":"x"');
      setTimeout(() => response.socket?.destroy(), 10);
    },
    'connection',
    true,
  ),
  backend(
    'a body shorter than it says',
    raw('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"id":'),
    'connection',
    true,
  ),
  backend(
    'a chunked body cut off',
    raw('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n'),
    'connection',
    true,
  ),
  backend('no HTTP at all', raw('SSH-2.0-OpenSSH_9.9\r\n'), 'connection', true),
  backend(
    'headers without end',
    (response) => {
      response.socket?.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => response.socket?.write('X-Pad: 1\r\n'), 20);
      response.socket?.on('close', () => clearInterval(timer));
    },
    'timeout',
    true,
  ),
  backend('silence', () => undefined, 'timeout', true),
  backend(
    'headers, then silence',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
    },
    'timeout',
    true,
  ),
  backend(
    'half a body, then silence',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"id":"x","choices":[');
    },
    'timeout',
    true,
  ),
  backend('white space, drop by drop', (response) => drip(response, ' '), 'timeout', true),
  backend(
    'an error whose body stalls',
    (response) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.write('{');
    },
    'timeout',
    true,
  ),
  backend(
    'a body past the bound',
    (response, request) =>
      sendJson(
        response,
        200,
        JSON.stringify(completion(request.model, answerTo(request))) + ' '.repeat(2 * 1024 * 1024),
      ),
    'too_large',
    true,
  ),
  backend(
    'a body without end',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const write = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    },
    'too_large',
    true,
  ),
  parse(
    'truncated at the token limit',
    choice({ finish_reason: 'length' }, { content: '{"observations":[' }),
    'truncated',
  ),
  parse(
    "truncated, in another server's word, though it reads whole",
    choice({ finish_reason: 'MAX_TOKENS' }),
    'truncated',
  ),
  parse(
    'truncated after its verdict BLOCK',
    choice({ finish_reason: 'length' }, { content: '{"verdict":"BLOCK"' }),
    'truncated',
  ),
  parse(
    'cut off, and the server calls it complete',
    edited((text) => text.slice(0, -30)),
  ),
  parse('empty content', saying('')),
  parse('null content', choice({}, { content: null })),
  parse('prose', saying('Looks fine to me.')),
  parse('prose that says BLOCK', saying('I would BLOCK this.')),
  parse('another shape', saying('{"approved":true,"score":1,"reason":"","severity":"","details":{}}')),
  parse(
    'an extra key',
    edited((text) => text.replace('{', '{"note":1,')),
  ),
  parse(
    'a key twice',
    edited((text) => text.replace('"verdict"', '"verdict":"BLOCK","verdict"')),
  ),
  parse('another canary', (response, request) =>
    sendJson(response, 200, completion(request.model, answerTo({ ...request, canary: '0'.repeat(16) }))),
  ),
  parse(
    'prose beside the verdict',
    edited((text) => `Here is my verdict: ${text}`),
  ),
  parse(
    'a line that was not shown',
    edited((text) => text.replace('"line":1', '"line":99')),
  ),
  parse('a policy left out', (response, request) =>
    sendJson(response, 200, completion(request.model, answerTo({ ...request, policyIds: request.policyIds.slice(1) }))),
  ),
  parse(
    'two verdicts',
    edited((text) => `${text}\n${text}`),
  ),
  parse(
    'an answer past 64 KiB',
    edited((text) => text + ' '.repeat(70_000)),
  ),
];
