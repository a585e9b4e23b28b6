import { CountersignError } from './errors';

/**
 * Reads the body of a request or response. Throws `too_large` after `max` bytes, regardless of Content-Length, and the reason of `signal`
 * when it aborts.
 */
export async function readBody(
  message: Pick<Request, 'headers' | 'body'>,
  max: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const tooLarge = (): CountersignError =>
    new CountersignError('too_large', `Body: expected at most ${max} bytes, got more`);
  const declared = Number(message.headers.get('content-length') ?? '0');
  if (declared > max) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = message.body?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  // The signal that was given to `fetch` does not end a body any more once the request is garbage-collected. An aborted body rejects.
  const cancel = (): void => void Promise.allSettled([reader.cancel()]);
  signal?.addEventListener('abort', cancel);
  if (signal?.aborted === true) cancel();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) break;
      length += value.length;
      if (length > max) {
        await reader.cancel();
        throw tooLarge();
      }
      chunks.push(value);
    }
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

/** Parses a body as JSON. Throws `invalid_input`. */
export function parseJsonBody(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    throw new CountersignError('invalid_input', 'Body: expected JSON in UTF-8', { field: 'body', cause: error });
  }
}
