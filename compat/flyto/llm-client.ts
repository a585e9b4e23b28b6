/** What a validator needs of a model: one prompt in, one text out (F56). */
export interface LLMClient {
  /** `model` empty: the client's default. `maxTokens` 0: left to the provider. Rejects with `ErrValidatorBackend` in `code`, or with the signal's own reason. */
  readonly complete: (prompt: string, model: string, maxTokens: number, signal?: AbortSignal) => Promise<string>;
}

/** A backend that did not answer (F20). `hasErrorCode` reads `code`. */
export function backendError(message: string, cause?: unknown): Error & { readonly code: 'ErrValidatorBackend' } {
  const error = new Error(message, cause === undefined ? {} : { cause });
  return Object.assign(error, { code: 'ErrValidatorBackend' as const });
}
