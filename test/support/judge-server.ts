import type { IncomingMessage, ServerResponse } from 'node:http';
import { startLoopbackServer } from '../../dev/fixtures/loopback-server';

/** One request as it arrived. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** The parts of a request that handlers need to answer as a model would. */
export interface ChatRequest {
  readonly model: string;
  readonly instructions: string;
  readonly message: string;
  readonly canary: string;
  readonly policyIds: readonly string[];
  /** Number of the first line of the change in this request. */
  readonly firstLine: number;
  readonly json: { readonly [key: string]: unknown };
}

export type Handler = (response: ServerResponse, request: ChatRequest, seen: SeenRequest) => void | Promise<void>;

export interface JudgeServer {
  readonly baseUrl: string;
  readonly host: string;
  readonly requests: readonly SeenRequest[];
  /** Connections that the client ended before the answer was complete. */
  readonly aborted: () => number;
  /** The handler of all further requests. */
  readonly use: (handler: Handler) => void;
  readonly clear: () => void;
  readonly stop: () => Promise<void>;
}

/** A loopback server that speaks the chat completions protocol over HTTP, and answers as its handler decides. */
export async function startJudgeServer(initial: Handler): Promise<JudgeServer> {
  let handler = initial;
  let aborted = 0;
  const requests: SeenRequest[] = [];
  const server = await startLoopbackServer((request, response, body) => {
    const seen = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
    requests.push(seen);
    response.on('close', () => {
      if (!response.writableFinished) aborted++;
    });
    response.on('error', () => undefined);
    return handler(response, toChat(body), seen);
  });
  return {
    baseUrl: `${server.url}/v1`,
    host: new URL(server.url).host,
    requests,
    aborted: () => aborted,
    use: (next) => {
      handler = next;
    },
    clear: () => {
      requests.length = 0;
      aborted = 0;
    },
    stop: server.stop,
  };
}

function toChat(body: string): ChatRequest {
  const json = JSON.parse(body) as { model: string; messages: { role: string; content: string }[] };
  const message = json.messages.at(-1)?.content ?? '';
  const header = headerOf(message);
  return {
    model: json.model,
    instructions: json.messages[0]?.content ?? '',
    message,
    canary: header.canary,
    policyIds: header.policyIds,
    firstLine: header.firstLine,
    json,
  };
}

function headerOf(message: string): Pick<ChatRequest, 'canary' | 'policyIds' | 'firstLine'> {
  const line = message.slice(0, message.indexOf('\n') === -1 ? undefined : message.indexOf('\n'));
  try {
    const { canary, policyIds, piece } = JSON.parse(line) as {
      canary?: string;
      policyIds?: string[];
      piece?: { firstLine: number };
    };
    return { canary: canary ?? '', policyIds: policyIds ?? [], firstLine: piece?.firstLine ?? 1 };
  } catch {
    return { canary: '', policyIds: [], firstLine: 1 };
  }
}

/** A strict answer to this request; `over` replaces members. */
export function answerTo(
  request: Pick<ChatRequest, 'canary' | 'policyIds'> & { readonly firstLine?: number },
  over: { readonly [key: string]: unknown } = {},
): { [key: string]: unknown } {
  return {
    observations: [{ line: request.firstLine ?? 1, effect: 'Changes one row.' }],
    policyResults: request.policyIds.map((policyId) => ({
      policyId,
      result: 'clear',
      severity: 'WARN',
      lines: [],
      quote: '',
      why: '',
    })),
    instructionsInDiff: false,
    canary: request.canary,
    verdict: 'ALLOW',
    confidence: 'high',
    ...over,
  };
}

export function completion(
  model: string,
  content: unknown,
  over: { readonly [key: string]: unknown } = {},
): { [key: string]: unknown } {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        message: {
          role: 'assistant',
          content: typeof content === 'string' ? content : JSON.stringify(content),
          refusal: null,
        },
      },
    ],
    usage: {
      prompt_tokens: 1200,
      completion_tokens: 90,
      total_tokens: 1290,
      prompt_tokens_details: { cached_tokens: 1000 },
      completion_tokens_details: { reasoning_tokens: 10 },
    },
    ...over,
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: { readonly [name: string]: string } = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_1', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Answers every request correctly; `over` replaces members of the wire answer. */
export function answering(over: { readonly [key: string]: unknown } = {}): Handler {
  return (response, request) => sendJson(response, 200, completion(request.model, answerTo(request, over)));
}

/** Answers with this text as the model's content. */
export function saying(content: string): Handler {
  return (response, request) => sendJson(response, 200, completion(request.model, content));
}
