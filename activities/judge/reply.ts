import { z } from 'zod';
import type { Usage } from '../../policy/judge/record';
import { backendFailure, parseFailure } from './judge-failures';
import type { ModelReply, ModelRequest } from './model-exchange';

const Tokens = z.int().min(0).nullish().catch(null);

/** The members of a chat completion that are read. The server is untrusted, so the SDK's types are not relied on. */
const Completion = z.object({
  model: z.string().min(1).max(200),
  choices: z.array(
    z.object({
      finish_reason: z.string().max(50).nullish(),
      message: z.object({
        content: z.string().nullish(),
        refusal: z.string().nullish(),
        tool_calls: z.array(z.unknown()).nullish(),
      }),
    }),
  ),
  usage: z
    .object({
      prompt_tokens: Tokens,
      completion_tokens: Tokens,
      prompt_tokens_details: z.object({ cached_tokens: Tokens }).nullish().catch(null),
      completion_tokens_details: z.object({ reasoning_tokens: Tokens }).nullish().catch(null),
    })
    .nullish()
    .catch(null),
});

/** How compatible servers say that the model ended its answer. Some say nothing. */
const END_WORDS = ['', 'stop', 'stop_sequence', 'end_turn', 'eos', 'eos_token'];
/** Finish reasons that have a separate cause of failure. */
const LENGTH_WORDS = ['length', 'max_tokens', 'max_output_tokens', 'model_length'];
const FILTER_WORDS = ['content_filter', 'safety', 'recitation', 'blocklist', 'prohibited_content', 'spii'];
const FAILURE_WORDS = ['error', 'abort', 'aborted', 'cancelled', 'canceled', 'insufficient_system_resource'];

/** Returns the text of the only choice. Throws CountersignFailure for anything else; a refusal and a filter are failures, not verdicts. */
export function replyOf(
  data: unknown,
  request: Pick<ModelRequest, 'model' | 'acceptedModels'>,
  requestId: string | null,
): Omit<ModelReply, 'structured'> {
  if (isErrorBody(data))
    throw backendFailure('bad_envelope', 'the server answered 200 with an error object', { retryable: true });
  const parsed = Completion.safeParse(data);
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join('.') ?? '';
    throw backendFailure(
      'bad_envelope',
      `the server's answer is not a valid chat completion${where === '' ? '' : ` (${where})`}`,
      { retryable: true },
    );
  }
  const { model, choices, usage } = parsed.data;
  const [choice] = choices;
  if (choice === undefined)
    throw backendFailure('no_choices', 'the server answered with no choices, expected one', { retryable: true });
  if (choices.length > 1)
    throw backendFailure('bad_envelope', `the server answered with ${choices.length} choices, expected one`, {
      retryable: true,
    });
  if (!isAccepted(model, request)) {
    throw backendFailure(
      'model_mismatch',
      `a model other than "${request.model}" answered; add its name to acceptedModels if this is intended`,
      {
        retryable: false,
        details: { returnedModel: model.slice(0, 100) },
      },
    );
  }
  const { message } = choice;
  const ended = (choice.finish_reason ?? '').toLowerCase();
  if (FAILURE_WORDS.includes(ended))
    throw backendFailure('server_error', 'the server aborted the answer', { retryable: true });
  if (FILTER_WORDS.includes(ended))
    throw backendFailure('content_filter', "the provider's content filter stopped the answer", { retryable: false });
  // Not retryable: a diff can provoke a refusal on purpose, and a retry would give it another chance to pass.
  if (isRefusal(message) || ended === 'refusal')
    throw backendFailure('refusal', 'the model refused to answer', { retryable: false });
  if (LENGTH_WORDS.includes(ended))
    throw parseFailure('truncated', 'the answer was truncated at the token limit; raise maxTokens');
  if ((message.tool_calls ?? []).length > 0)
    throw backendFailure('bad_envelope', 'the model called a tool, but none was offered', { retryable: true });
  // Not retryable: it may be another server's word for a filter.
  if (!END_WORDS.includes(ended))
    throw backendFailure('bad_envelope', 'the server gave an unknown finish reason', { retryable: false });
  return {
    text: message.content ?? '',
    model,
    requestId: requestId === null ? null : requestId.slice(0, 200),
    finishReason: ended === 'stop' ? 'stop' : 'other',
    usage: toUsage(usage ?? null),
  };
}

/** Some servers send an empty `refusal` together with an answer; that is not a refusal. */
function isRefusal({
  refusal,
  content,
}: {
  readonly refusal?: string | null | undefined;
  readonly content?: string | null | undefined;
}): boolean {
  if (refusal === null || refusal === undefined) return false;
  return refusal !== '' || content === null || content === undefined || content === '';
}

function isErrorBody(data: unknown): boolean {
  return (
    typeof data === 'object' && data !== null && 'error' in data && data.error !== null && data.error !== undefined
  );
}

/** True for the requested model, a dated version of it, or a model in `acceptedModels`. */
function isAccepted(
  returned: string,
  { model, acceptedModels }: Pick<ModelRequest, 'model' | 'acceptedModels'>,
): boolean {
  if (returned === model || acceptedModels.includes(returned)) return true;
  return returned.startsWith(`${model}-`) && /^\d{4}-?\d{2}-?\d{2}$/.test(returned.slice(model.length + 1));
}

function toUsage(usage: z.infer<typeof Completion>['usage'] | null): Usage {
  return {
    input: usage?.prompt_tokens ?? null,
    cachedInput: usage?.prompt_tokens_details?.cached_tokens ?? (usage === null || usage === undefined ? null : 0),
    output: usage?.completion_tokens ?? null,
    reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? (usage === null || usage === undefined ? null : 0),
  };
}
