/**
 * One request to an OpenAI-compatible server, one reply or one failure.
 *
 * X1 Exactly one HTTP request for each call: the client's own retries are off, Temporal owns them.
 * X2 Never streams: an aborted stream ends without an error, and half a verdict would read as a whole one.
 * X3 Every end is a reply, a CountersignFailure that says why, or the caller's own cancellation. What is not recognised
 *    is a backend failure.
 * X4 Nothing of this process's environment is read: no key, address, organisation or header comes from it.
 */
import { CancelledFailure } from '@temporalio/common';
import OpenAI from 'openai';
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import { WIRE_SCHEMA_NAME } from '../../policy/judge/wire';
import { createBoundedFetch } from './bounded-fetch';
import { failureOfCall } from './classify';
import type { ModelReply, ModelRequest } from './model-exchange';
import { replyOf } from './reply';

export interface TransportConfig {
  /** With the version's path: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Hosts that may be sent a diff, as in `URL.host`. Absent: the base URL's only. */
  readonly allowedHosts?: readonly string[];
  /**
   * `openai` sends `store: false`, a cache key and a developer message; `compatible` only what every server takes.
   * Absent: by the host.
   */
  readonly dialect?: 'openai' | 'compatible';
}

export interface JudgeTransport {
  /** `URL.host` of the server: part of records and cache keys. */
  readonly host: string;
  /**
   * Ends within `deadlineMs`. Rejects with a CountersignFailure (`ErrValidatorBackend`, or `ErrVerdictParse` for an
   * answer that was cut off), or with a CancelledFailure when `signal` aborts, which also aborts the request.
   */
  readonly ask: (
    request: ModelRequest,
    options: { readonly signal: AbortSignal; readonly deadlineMs: number },
  ) => Promise<ModelReply>;
}

/** Throws TypeError at once where the address is none, or its host is not allowed. */
export function createJudgeTransport(config: TransportConfig): JudgeTransport {
  const host = hostOf(config.baseUrl);
  const allowedHosts = config.allowedHosts ?? [host];
  if (!allowedHosts.some((allowed) => allowed.toLowerCase() === host)) {
    throw new TypeError(
      `judge.baseUrl: expected a host among ${allowedHosts.join(', ')}, got "${host}"; add it to the allowed hosts if diffs may go there`,
    );
  }
  if (config.apiKey === '')
    throw new TypeError('judge.apiKey: expected a key, got an empty text; servers that need none take any word');
  const dialect = config.dialect ?? (host === 'api.openai.com' ? 'openai' : 'compatible');
  const client = new OpenAI({
    apiKey: config.apiKey,
    baseURL: config.baseUrl,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: 'off',
    fetch: createBoundedFetch(allowedHosts).fetch,
  });

  return {
    host,
    ask: async (request, { signal, deadlineMs }) => {
      if (signal.aborted) throw new CancelledFailure('The judge was cancelled before it was asked');
      // Not `AbortSignal.any`: what hangs on its signal lives until a full collection, and that is the whole request.
      const stop = new AbortController();
      const cancel = (): void => stop.abort();
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        stop.abort();
      }, deadlineMs);
      signal.addEventListener('abort', cancel, { once: true });
      try {
        const { data, request_id: requestId } = await client.chat.completions
          .create(bodyOf(request, dialect), {
            signal: stop.signal,
            // Behind ours, in case a signal is ever lost.
            timeout: deadlineMs + 1000,
          })
          .withResponse();
        return replyOf(data, request, requestId);
      } catch (error) {
        if (signal.aborted) throw new CancelledFailure('The judge was cancelled while it was asked');
        throw failureOfCall(error, late ? deadlineMs : null);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancel);
      }
    },
  };
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
    throw new TypeError('judge.baseUrl: expected no credentials in the address; set the key instead');
  return url.host;
}

function bodyOf(request: ModelRequest, dialect: 'openai' | 'compatible'): ChatCompletionCreateParamsNonStreaming {
  const openai = dialect === 'openai';
  return {
    model: request.model,
    messages: [
      { role: openai ? 'developer' : 'system', content: request.instructions },
      { role: 'user', content: request.message },
    ],
    response_format: {
      type: 'json_schema',
      json_schema: { name: WIRE_SCHEMA_NAME, strict: true, schema: { ...request.jsonSchema } },
    },
    ...(request.maxTokens === 0
      ? {}
      : openai
        ? { max_completion_tokens: request.maxTokens }
        : { max_tokens: request.maxTokens }),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(openai ? { store: false, prompt_cache_key: request.cacheKey.slice(0, 64) } : {}),
  };
}
