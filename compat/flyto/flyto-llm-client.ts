import { backendError, type LLMClient, type FlytoEvent, type FlytoProvider } from './llm-client';
import { wordList } from '../../policy/text/word-list';

/**
 * An LLMClient over a streaming provider. `systemPrompt` is sent verbatim with every call; if it is empty, no system
 * message is sent. The temperature is a setting of the provider. Throws TypeError without a provider.
 */
export class FlytoLLMClient implements LLMClient {
  readonly #provider: FlytoProvider;
  readonly #defaultModel: string;
  readonly #systemPrompt: string;

  constructor(provider: FlytoProvider, defaultModel: string, systemPrompt: string) {
    if (typeof provider?.stream !== 'function')
      throw new TypeError('FlytoLLMClient.provider: expected a provider with stream(), got none');
    this.#provider = provider;
    this.#defaultModel = defaultModel;
    this.#systemPrompt = systemPrompt;
  }

  readonly complete = async (
    prompt: string,
    model: string,
    maxTokens: number,
    signal?: AbortSignal,
  ): Promise<string> => {
    signal?.throwIfAborted();
    const request = {
      model: model === '' ? this.#defaultModel : model,
      messages: [{ role: 'user' as const, content: prompt }],
      ...(this.#systemPrompt === '' ? {} : { system: this.#systemPrompt }),
      ...(maxTokens === 0 ? {} : { maxTokens }),
    };
    try {
      const text = await drain(this.#provider.stream(request, signal));
      // An aborted stream may end without an error. Do not return its truncated text.
      signal?.throwIfAborted();
      return text;
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ErrValidatorBackend')
        throw error;
      throw backendError('The provider failed', error);
    }
  };
}

/**
 * Returns the text of a stream. A `text` event is authoritative and replaces the deltas before it. Deltas without a
 * following `text` event are kept. An `error` event throws, and the text so far is discarded.
 */
async function drain(events: AsyncIterable<FlytoEvent>): Promise<string> {
  let text = '';
  let deltas = '';
  for await (const event of events) {
    switch (event.type) {
      case 'textDelta':
        deltas += textOf(event);
        break;
      case 'text':
        text += textOf(event);
        deltas = '';
        break;
      case 'error':
        throw backendError(`The provider reported an error: ${event.message}`);
      default:
        if (!isIgnored(event.type))
          throw backendError(
            `The provider sent an event of unknown type "${String((event as { type: unknown }).type).slice(0, 100)}"`,
          );
    }
  }
  return text + deltas;
}

/** Checked at run time: a provider may break its type, and `undefined` would become the word "undefined" in the answer. */
function textOf({ type, text }: { readonly type: string; readonly text: unknown }): string {
  if (typeof text === 'string') return text;
  throw backendError(`The provider sent a ${type} event without a text`);
}

const IGNORED = wordList('toolUse thinking usage done turn sessionInfo permission warning compact checkpoint');

/** True for event families that contain no answer text. */
function isIgnored(type: string): boolean {
  return IGNORED.some(
    (family) => type === family || (type.startsWith(family) && /^[A-Z]/.test(type.slice(family.length))),
  );
}
