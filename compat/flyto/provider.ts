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
