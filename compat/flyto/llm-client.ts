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
