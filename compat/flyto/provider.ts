/** Families of events that a client passes over (F61): `toolUseStart`, `thinkingDelta`, `turnEnd`, … */
type IgnoredEvent =
  `${'toolUse' | 'thinking' | 'usage' | 'done' | 'turn' | 'sessionInfo' | 'permission' | 'warning' | 'compact' | 'checkpoint'}${string}`;

export type FlytoEvent =
  /** A fragment of the block that is being written. */
  | { readonly type: 'textDelta'; readonly text: string }
  /** A finished block, whole. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'error'; readonly message: string }
  | { readonly type: IgnoredEvent };

export interface FlytoRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: 'user'; readonly content: string }[];
  readonly system?: string;
  readonly maxTokens?: number;
}

/** Where text comes from, as a stream of events. Knows nothing of validators (F62). Temperature is set where it is made (F57). */
export interface FlytoProvider {
  readonly stream: (request: FlytoRequest, signal?: AbortSignal) => AsyncIterable<FlytoEvent>;
}
