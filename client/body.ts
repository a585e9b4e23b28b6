import { CountersignError } from './errors';

/** Reads the body of a request or response, at most `max` bytes: stops reading at the first byte too many, whatever Content-Length says. */
export async function readBody(message: Pick<Request, 'headers' | 'body'>, max: number): Promise<Uint8Array> {
  const tooLarge = (): CountersignError =>
    new CountersignError('too_large', `Body: expected at most ${max} bytes, got more`);
  const declared = Number(message.headers.get('content-length') ?? '0');
  if (declared > max) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = message.body?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > max) {
      await reader.cancel();
      throw tooLarge();
    }
    chunks.push(value);
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

/** The JSON value of a body. Throws `invalid_input`. */
export function jsonBody(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    throw new CountersignError('invalid_input', 'Body: expected JSON in UTF-8', { field: 'body', cause: error });
  }
}
