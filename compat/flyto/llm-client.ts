/** A model that completes one prompt with one text. */
export interface LLMClient {
  /**
   * An empty `model` means the client's default; `maxTokens` 0 means the provider's default. Rejects with an error whose
   * `code` is `ErrValidatorBackend`, or with the reason of an aborted signal.
   */
  readonly complete: (prompt: string, model: string, maxTokens: number, signal?: AbortSignal) => Promise<string>;
}

/** The model's backend did not give a usable answer. `hasErrorCode` reads `code`. */
export function backendError(message: string, cause?: unknown): Error & { readonly code: 'ErrValidatorBackend' } {
  const error = new Error(message, cause === undefined ? {} : { cause });
  return Object.assign(error, { code: 'ErrValidatorBackend' as const });
}

/** Event families that a client ignores: `toolUseStart`, `thinkingDelta`, `turnEnd`, … */
type IgnoredEvent =
  `${'toolUse' | 'thinking' | 'usage' | 'done' | 'turn' | 'sessionInfo' | 'permission' | 'warning' | 'compact' | 'checkpoint'}${string}`;

export type FlytoEvent =
  /** A fragment of the current block. */
  | { readonly type: 'textDelta'; readonly text: string }
  /** The full text of a finished block. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'error'; readonly message: string }
  | { readonly type: IgnoredEvent };

export interface FlytoRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: 'user'; readonly content: string }[];
  readonly system?: string;
  readonly maxTokens?: number;
}

/** A model provider that answers with a stream of events. The temperature is set when the provider is created. */
export interface FlytoProvider {
  readonly stream: (request: FlytoRequest, signal?: AbortSignal) => AsyncIterable<FlytoEvent>;
}
