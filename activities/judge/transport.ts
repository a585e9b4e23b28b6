/**
 * One request to an OpenAI-compatible server.
 *
 * X1 One HTTP request for each call: the client's retries are off, because Temporal retries the activity. The exception is a
 *    server that refuses `response_format`: the first call to its model sends a second request without it.
 * X2 Does not stream: an aborted stream ends without an error, and a truncated verdict would be read as a complete one.
 * X3 Each call ends with a reply, a CountersignFailure or the caller's own cancellation. An unknown error is a backend
 *    failure.
 * X4 Reads no key, address, organization or header from the process environment.
 */
import { CancelledFailure } from '@temporalio/common';
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import { WIRE_SCHEMA_NAME } from '../../policy/judge/wire';
import { failureOfCall, refusesResponseFormat } from './classify';
import { modelClient } from './model-client';
import type { ModelReply, ModelRequest } from './model-exchange';
import { replyOf } from './reply';

export interface TransportConfig {
  /** With the version path: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface JudgeTransport {
  /** `URL.host` of the server: part of records and cache keys. */
  readonly host: string;
  /**
   * Settles within `deadlineMs`. Rejects with a CountersignFailure (`ErrValidatorBackend`, or `ErrVerdictParse` for a
   * truncated answer), or with a CancelledFailure if `signal` aborts, which also aborts the request.
   */
  readonly ask: (
    request: ModelRequest,
    options: { readonly signal: AbortSignal; readonly deadlineMs: number },
  ) => Promise<ModelReply>;
}

/** Throws TypeError if the base URL is invalid or the API key is empty. */
export function createJudgeTransport(config: TransportConfig): JudgeTransport {
  const host = hostOf(config.baseUrl);
  if (config.apiKey === '')
    throw new TypeError('judge.apiKey: expected a key, got an empty string; use any text if the server needs no key');
  const isOpenAI = host === 'api.openai.com';
  const client = modelClient(config.baseUrl, config.apiKey);

  /** Models that answered without `response_format` after the server had refused it. */
  const withoutFormat = new Set<string>();

  const send = async (request: ModelRequest, structured: boolean, options: RequestOptions): Promise<ModelReply> => {
    const { data, request_id: requestId } = await client.chat.completions
      .create(bodyOf(request, isOpenAI, structured), options)
      .withResponse();
    return { ...replyOf(data, request, requestId), structured };
  };
  const sendAsSupported = async (request: ModelRequest, options: RequestOptions): Promise<ModelReply> => {
    const { model, structuredOutput } = request;
    if (structuredOutput === 'off' || (structuredOutput === 'preferred' && withoutFormat.has(model)))
      return send(request, false, options);
    try {
      return await send(request, true, options);
    } catch (error) {
      if (structuredOutput === 'required' || !refusesResponseFormat(error)) throw error;
    }
    const reply = await send(request, false, options);
    withoutFormat.add(model);
    return reply;
  };

  return {
    host,
    ask: async (request, { signal, deadlineMs }) => {
      if (signal.aborted) throw new CancelledFailure('The judge was cancelled before the request was sent');
      // Not `AbortSignal.any`: its listeners keep the request in memory until a full garbage collection.
      const stop = new AbortController();
      const cancel = (): void => stop.abort();
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        stop.abort();
      }, deadlineMs);
      signal.addEventListener('abort', cancel, { once: true });
      try {
        // The client's own time limit is after our deadline, in case the abort signal is lost.
        return await sendAsSupported(request, { signal: stop.signal, timeout: deadlineMs + 1000 });
      } catch (error) {
        if (signal.aborted) throw new CancelledFailure('The judge was cancelled during the request');
        throw failureOfCall(error, late ? deadlineMs : null);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancel);
      }
    },
  };
}

interface RequestOptions {
  readonly signal: AbortSignal;
  readonly timeout: number;
}

function hostOf(baseUrl: string): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new TypeError(`judge.baseUrl: expected an http(s) address, got "${baseUrl.slice(0, 200)}"`);
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new TypeError(`judge.baseUrl: expected an http(s) address, got ${url.protocol}`);
  if (url.username !== '' || url.password !== '')
    throw new TypeError('judge.baseUrl: expected no credentials in the address; set judge.apiKey instead');
  return url.host;
}

/** OpenAI's own API gets `store: false`, a cache key and a developer message; other servers only what each of them accepts. */
function bodyOf(request: ModelRequest, isOpenAI: boolean, structured: boolean): ChatCompletionCreateParamsNonStreaming {
  return {
    model: request.model,
    messages: [
      { role: isOpenAI ? 'developer' : 'system', content: request.instructions },
      { role: 'user', content: request.message },
    ],
    ...(structured
      ? {
          response_format: {
            type: 'json_schema',
            json_schema: { name: WIRE_SCHEMA_NAME, strict: true, schema: { ...request.jsonSchema } },
          },
        }
      : {}),
    ...(request.maxTokens === 0
      ? {}
      : isOpenAI
        ? { max_completion_tokens: request.maxTokens }
        : { max_tokens: request.maxTokens }),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(isOpenAI ? { store: false, prompt_cache_key: request.cacheKey.slice(0, 64) } : {}),
  };
}
