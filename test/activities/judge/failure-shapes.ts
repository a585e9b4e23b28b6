import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { FailureType } from '../../../policy/contracts/failure-type';
import type { JudgeCause } from '../../../policy/decide/judge-failure';
import { answerTo, completion, saying, sendJson, type ChatRequest, type Handler } from '../../support/judge-server';

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

type Members = { readonly [name: string]: unknown };
type Headers = { readonly [name: string]: string };

const backend = (
  id: string,
  handler: Handler,
  cause: JudgeCause,
  retryable: boolean,
  delayMs?: number,
): FailureShape => {
  const delay = delayMs === undefined ? {} : { delayMs };
  return { id, handler, type: FailureType.Backend, cause, retryable, ...delay };
};
const parse = (id: string, handler: Handler, cause: JudgeCause = 'answer'): FailureShape => {
  return { id, handler, type: FailureType.VerdictParse, cause, retryable: false };
};

const JSON_TYPE = { 'content-type': 'application/json' };
/** Answers with this status and these bytes, and nothing else. */
const bytes =
  (code: number, body: string | Buffer, headers: Headers = JSON_TYPE): Handler =>
  (response) => {
    response.writeHead(code, headers);
    response.end(body);
  };
/** Begins an answer, and leaves the rest to `goOn`, which by default does nothing. */
const begun =
  (code: number, text: string, goOn: (response: ServerResponse) => void = () => {}, headers: Headers = {}): Handler =>
  (response) => {
    response.writeHead(code, { ...JSON_TYPE, ...headers });
    response.flushHeaders();
    if (text !== '') response.write(text);
    goOn(response);
  };
const html = (code: number): Handler => bytes(code, '<html>oops</html>', { 'content-type': 'text/html' });
const raw =
  (text: string): Handler =>
  (response) =>
    void response.socket?.end(text);

const status =
  (code: number, body: unknown = { error: { message: 'no', code: null } }, headers: Headers = {}): Handler =>
  (response) =>
    sendJson(response, code, body, headers);
const coded = (http: number, code: string): Handler =>
  status(http, { error: { message: 'secret words of the server', code, type: code } });
const limited = (headers: Headers): Handler => status(429, {}, headers);

/** The completion that is right for the request, with changed parts. */
const completing =
  (change: (request: ChatRequest) => unknown): Handler =>
  (response, request) =>
    sendJson(response, 200, change(request));
const right = (request: ChatRequest, over: Members = {}): Members => completion(request.model, answerTo(request), over);
const named = (model: (requested: string) => string): Handler =>
  completing((request) => completion(model(request.model), answerTo(request)));
const instead = (over: Members): Handler => completing((request) => right(request, over));
const choice = (over: Members, message: Members = {}): Handler =>
  completing((request) => {
    const content = JSON.stringify(answerTo(request));
    const one = { index: 0, finish_reason: 'stop', ...over };
    return right(request, {
      choices: [{ ...one, message: { role: 'assistant', content, refusal: null, ...message } }],
    });
  });
const edited = (edit: (answer: string) => string): Handler =>
  completing((request) => completion(request.model, edit(JSON.stringify(answerTo(request)))));
/** The right answer to another request. */
const answeringOther = (other: (request: ChatRequest) => Partial<ChatRequest>): Handler =>
  completing((request) => completion(request.model, answerTo({ ...request, ...other(request) })));

/** Writes every 20 ms until the connection is closed. */
const dripping = (text: string, first = ''): Handler => {
  return (response) => {
    response.socket?.write(first);
    const timer = setInterval(() => response.socket?.write(text), 20);
    response.socket?.on('close', () => clearInterval(timer));
  };
};
const endlessly = (response: ServerResponse): void => {
  while (!response.destroyed && response.write('x'.repeat(65_536)));
  if (!response.destroyed) response.once('drain', () => endlessly(response));
};
const spaces = (response: ServerResponse): void => {
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
};

const PACKED = { ...JSON_TYPE, 'content-encoding': 'gzip' };
const BOMB = gzipSync(Buffer.alloc(8 * 1024 * 1024, ' '));
const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** Deadline of a call for these shapes, in milliseconds. */
export const DEADLINE_MS = 5_000;

export const FAILURE_SHAPES: readonly FailureShape[] = [
  backend('400', coded(400, 'context_length_exceeded'), 'bad_request', false),
  backend('401', status(401), 'authentication', false),
  backend('402', status(402), 'quota', false),
  backend('404', coded(404, 'model_not_found'), 'not_found', false),
  backend('408', status(408), 'timeout', true),
  backend('409', status(409), 'http_status', true),
  backend('413', status(413), 'too_large', false),
  backend('429', status(429), 'rate_limited', true),
  backend('429 with retry-after in seconds', limited({ 'retry-after': '7' }), 'rate_limited', true, 7_000),
  backend('429 with retry-after past a minute', limited({ 'retry-after': '200' }), 'rate_limited', true, 200_000),
  backend('429 with retry-after past the cap', limited({ 'retry-after': '86400' }), 'rate_limited', true, 300_000),
  backend(
    '429 with retry-after-ms',
    limited({ 'retry-after-ms': '1500', 'retry-after': '9' }),
    'rate_limited',
    true,
    1_500,
  ),
  backend('429 with an invalid retry-after', limited({ 'retry-after': 'soon' }), 'rate_limited', true),
  backend('429 with a number in words', limited({ 'retry-after': 'soon 9999' }), 'rate_limited', true),
  backend(
    '429 with a retry-after date in the past',
    limited({ 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT' }),
    'rate_limited',
    true,
  ),
  // fetch re-sends the request after a 421 if the body can be replayed.
  backend('421', status(421), 'http_status', false),
  backend('429 quota', coded(429, 'insufficient_quota'), 'quota', false),
  backend('429 with a header that forbids a retry', limited({ 'x-should-retry': 'false' }), 'rate_limited', false),
  backend('400 content filter', coded(400, 'content_filter'), 'content_filter', false),
  backend(
    '400 with a header that asks for a retry',
    status(400, {}, { 'x-should-retry': 'true' }),
    'bad_request',
    true,
  ),
  backend('500', status(500), 'server_error', true),
  backend('500 with HTML', html(500), 'server_error', true),
  backend('503 with retry-after', status(503, {}, { 'retry-after': '3' }), 'server_error', true, 3_000),
  backend('301', status(301, {}, { location: 'http://127.0.0.1:9/v1' }), 'redirect', false),
  backend('307 to another origin', status(307, {}, { location: 'http://localhost:9/elsewhere' }), 'redirect', false),
  backend('308 to itself', status(308, {}, { location: '/v1/chat/completions' }), 'redirect', false),
  backend('204', bytes(204, '', {}), 'bad_envelope', true),
  backend('200 with HTML', html(200), 'bad_envelope', true),
  backend('200 with broken JSON', status(200, '{"id":"x","choices":[{'), 'not_json', true),
  backend('200 with an error in it', status(200, { error: { message: 'overloaded' } }), 'bad_envelope', true),
  backend('200 with an error beside a verdict', instead({ error: { message: 'overloaded' } }), 'bad_envelope', true),
  backend(
    '200 that is not valid UTF-8',
    (response, request, seen) => {
      const body = Buffer.from(JSON.stringify(right(request)));
      body[body.indexOf('Changes')] = 0xff;
      return bytes(200, body)(response, request, seen);
    },
    'not_json',
    true,
  ),
  backend('a megabyte packed into a kilobyte', bytes(200, BOMB, PACKED), 'too_large', true),
  backend('packed, it says, and is not', bytes(200, '{}', PACKED), 'connection', true),
  backend(
    'two answers in one body',
    completing((r) => JSON.stringify(right(r)).repeat(2)),
    'not_json',
    true,
  ),
  backend(
    'HTTP/1.0 cut off, without a length that would show it',
    raw('HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{"id":"x","choices":[{'),
    'not_json',
    true,
  ),
  backend('early hints without end', dripping('HTTP/1.1 103 Early Hints\r\n\r\n'), 'timeout', true),
  backend(
    'a redirect with an endless body',
    begun(307, '', endlessly, { location: 'http://localhost:9/' }),
    'redirect',
    false,
  ),
  backend('no choices', instead({ choices: [] }), 'no_choices', true),
  backend(
    'two choices',
    completing((request) => {
      const message = { role: 'assistant', content: JSON.stringify(answerTo(request)) };
      const one = { index: 0, finish_reason: 'stop', message };
      return right(request, { choices: [one, one] });
    }),
    'bad_envelope',
    true,
  ),
  backend('a message that is a string', instead({ choices: [{ message: 'ALLOW' }] }), 'bad_envelope', true),
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
    named(() => 'cheaper-model'),
    'model_mismatch',
    false,
  ),
  backend(
    'a model that only begins the same',
    named((model) => `${model}-mini`),
    'model_mismatch',
    false,
  ),
  backend('no model', instead({ model: undefined }), 'bad_envelope', true),
  backend('reset before the headers', (response) => void response.socket?.destroy(), 'connection', true),
  backend(
    'reset in the body',
    begun(200, '{"id":"x"', (response) => void setTimeout(() => response.socket?.destroy(), 10), {
      'content-length': '5000',
    }),
    'connection',
    true,
  ),
  backend('a body shorter than it says', raw(`${OK}Content-Length: 500\r\n\r\n{"id":`), 'connection', true),
  backend('a chunked body cut off', raw(`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n`), 'connection', true),
  backend('no HTTP at all', raw('SSH-2.0-OpenSSH_9.9\r\n'), 'connection', true),
  backend('headers without end', dripping('X-Pad: 1\r\n', 'HTTP/1.1 200 OK\r\n'), 'timeout', true),
  backend('silence', () => undefined, 'timeout', true),
  backend('headers, then silence', begun(200, ''), 'timeout', true),
  backend('half a body, then silence', begun(200, '{"id":"x","choices":['), 'timeout', true),
  backend('white space, drop by drop', begun(200, '', spaces), 'timeout', true),
  backend('an error whose body stalls', begun(500, '{'), 'timeout', true),
  backend(
    'a body past the bound',
    completing((r) => JSON.stringify(right(r)) + ' '.repeat(2 * 1024 * 1024)),
    'too_large',
    true,
  ),
  backend('a body without end', begun(200, '', endlessly), 'too_large', true),
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
  parse(
    'another canary',
    answeringOther(() => ({ canary: '0'.repeat(16) })),
  ),
  parse(
    'prose beside the verdict',
    edited((text) => `Here is my verdict: ${text}`),
  ),
  parse(
    'a line that was not shown',
    edited((text) => text.replace('"line":1', '"line":99')),
  ),
  parse(
    'a policy left out',
    answeringOther(({ policyIds }) => ({ policyIds: policyIds.slice(1) })),
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
