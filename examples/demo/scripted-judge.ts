import type { ServerResponse } from 'node:http';
import { startLoopbackServer } from '../../dev/fixtures/loopback-server';

/** The model name in its responses, so that output and evidence never present it as a real model. */
export const SCRIPTED_JUDGE = 'scripted-judge';

/** One concern of the script. Missing members get defaults; a `policyId` that the request does not ask about is an error. */
interface ScriptedConcern {
  readonly policyId: string;
  readonly severity?: 'WARN' | 'BLOCK';
  readonly lines?: readonly number[];
  readonly quote?: string;
  readonly why: string;
}

/** The script's answer to one request. Missing members get defaults; an empty object allows the change. */
interface ScriptedVerdict {
  readonly observations?: readonly { readonly line: number; readonly effect: string }[];
  readonly concerns?: readonly ScriptedConcern[];
  readonly confidence?: 'low' | 'medium' | 'high';
}

/** Receives the user message as a model would: a header line, then the marked lines of the diff. */
export type JudgeScript = (message: string) => ScriptedVerdict;

export interface ScriptedJudge {
  /** Value for `OPENAI_BASE_URL`. */
  readonly baseUrl: string;
  /** Number of requests answered so far. */
  readonly asked: () => number;
  readonly stop: () => Promise<void>;
}

/**
 * A loopback server that implements the chat completions API with a script: the judge of the demo without an API key. It
 * reads canary and policy ids from the request, as a model must, and uses nothing else of Countersign.
 */
export async function startScriptedJudge({ script }: { readonly script: JudgeScript }): Promise<ScriptedJudge> {
  let asked = 0;
  const server = await startLoopbackServer(({ method, url }, response, body) => {
    if (method === 'GET' && url === '/v1/models')
      return send(response, 200, { object: 'list', data: [{ id: SCRIPTED_JUDGE, object: 'model' }] });
    if (method !== 'POST' || url !== '/v1/chat/completions')
      return send(response, 404, {
        error: { message: 'Not found: this server implements only POST /v1/chat/completions', code: 'not_found' },
      });
    try {
      const answer = answerTo(body, script);
      asked++;
      return send(response, 200, completion(body, answer));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return send(response, 400, { error: { message, code: 'script_failed' } });
    }
  });
  return { baseUrl: `${server.url}/v1`, asked: () => asked, stop: server.stop };
}

interface Header {
  readonly canary: string;
  readonly policyIds: readonly string[];
}

function answerTo(body: string, script: JudgeScript): object {
  const message = messageOf(body);
  const { canary, policyIds } = headerOf(message);
  const verdict = script(message);
  const concerns = verdict.concerns ?? [];
  const unknown = concerns.find((concern) => !policyIds.includes(concern.policyId));
  if (unknown !== undefined)
    throw new TypeError(
      `The script has a concern for the policy "${unknown.policyId}", but the request asks only about ${policyIds.join(', ')}`,
    );
  const rows = policyIds.map((policyId) =>
    rowOf(
      policyId,
      concerns.find((concern) => concern.policyId === policyId),
    ),
  );
  return {
    observations: verdict.observations ?? [],
    policyResults: rows,
    instructionsInDiff: false,
    canary,
    verdict: concerns.length === 0 ? 'ALLOW' : concerns.some((c) => c.severity === 'BLOCK') ? 'BLOCK' : 'WARN',
    confidence: verdict.confidence ?? 'high',
  };
}

function rowOf(policyId: string, concern: ScriptedConcern | undefined): object {
  if (concern === undefined) return { policyId, result: 'clear', severity: 'WARN', lines: [], quote: '', why: '' };
  return {
    policyId,
    result: 'violated',
    severity: concern.severity ?? 'WARN',
    lines: concern.lines ?? [],
    quote: concern.quote ?? '',
    why: concern.why,
  };
}

function messageOf(body: string): string {
  const { messages } = JSON.parse(body) as { messages?: { role?: string; content?: unknown }[] };
  const user = messages?.findLast((m) => m.role === 'user')?.content;
  if (typeof user !== 'string') throw new TypeError('messages: expected a message of role "user" with text content');
  return user;
}

function headerOf(message: string): Header {
  const header = JSON.parse(message.split('\n', 1)[0] ?? '') as Partial<Header>;
  if (typeof header.canary !== 'string' || !Array.isArray(header.policyIds))
    throw new TypeError('The first line of the request lacks canary or policyIds');
  return { canary: header.canary, policyIds: header.policyIds as string[] };
}

function completion(body: string, answer: object): object {
  const content = JSON.stringify(answer);
  // About four bytes per token: a script has no tokens, but the record should contain plausible usage.
  const [input, output] = [Math.ceil(body.length / 4), Math.ceil(content.length / 4)];
  return {
    id: `chatcmpl-${SCRIPTED_JUDGE}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: SCRIPTED_JUDGE,
    choices: [
      { index: 0, finish_reason: 'stop', logprobs: null, message: { role: 'assistant', content, refusal: null } },
    ],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
