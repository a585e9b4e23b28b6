import type OpenAI from 'openai';
import { z } from 'zod';
import { modelClient } from '../../activities/judge/model-client';
import { requireShape } from '../../policy/contracts/definition-shape';
import type { FlytoEvent, FlytoProvider, FlytoRequest } from './llm-client';

export interface OpenAIProviderConfig {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Sent with every call; create another provider for another temperature. Absent: left out of the request. */
  readonly temperature?: number;
  /** Time limit of one call, in milliseconds. */
  readonly deadlineMs: number;
}

const CONFIG = z.object({
  baseUrl: z.url(),
  apiKey: z.string(),
  temperature: z.number().optional(),
  deadlineMs: z.number().positive(),
});

/**
 * A provider for an OpenAI-compatible server. Does not stream from the server, because an aborted stream ends like a
 * finished one, and emits the answer as one text event. A refusal, a content filter, a truncated answer and any failure
 * are emitted as an error event. Throws TypeError for a wrong configuration.
 */
export function createOpenAIProvider(config: OpenAIProviderConfig): FlytoProvider {
  requireShape('createOpenAIProvider', CONFIG, config);
  const client = modelClient(config.baseUrl, config.apiKey);
  return { stream: (request, signal) => events(client, config, request, signal) };
}

async function* events(
  client: OpenAI,
  config: OpenAIProviderConfig,
  request: FlytoRequest,
  signal: AbortSignal | undefined,
): AsyncGenerator<FlytoEvent> {
  const deadline = AbortSignal.timeout(config.deadlineMs);
  try {
    const completion = await client.chat.completions.create(
      {
        model: request.model,
        messages: [
          ...(request.system === undefined ? [] : [{ role: 'system' as const, content: request.system }]),
          ...request.messages,
        ],
        ...(request.maxTokens === undefined ? {} : { max_tokens: request.maxTokens }),
        ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
      },
      {
        signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
        timeout: config.deadlineMs + 1000,
        maxRetries: 0,
      },
    );
    const choice = completion.choices?.[0];
    if (choice?.finish_reason !== 'stop' || choice.message.refusal) {
      yield {
        type: 'error',
        message: choice?.message?.refusal
          ? 'the model refused to answer'
          : `the answer is incomplete (finish_reason: ${choice?.finish_reason ?? 'none'})`,
      };
      return;
    }
    yield { type: 'text', text: choice.message.content ?? '' };
    yield { type: 'done' };
  } catch (error) {
    if (signal?.aborted === true) throw error;
    // Only the class name: the server's message may echo the prompt.
    yield {
      type: 'error',
      message: deadline.aborted
        ? `no answer within ${config.deadlineMs} ms`
        : error instanceof Error
          ? error.constructor.name
          : 'unknown error',
    };
  }
}
