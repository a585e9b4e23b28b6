import { gunzipSync } from 'node:zlib';

const HEAD_BYTES = 5;

/** A message without fields, framed. */
export const EMPTY_MESSAGE = Buffer.alloc(HEAD_BYTES);

/** The only message of a unary call: one byte for compression, four for the length, then the message. Null if it is empty or absent. */
export function messageIn(body: Buffer): Buffer | null {
  if (body.length <= HEAD_BYTES) return null;
  const message = body.subarray(HEAD_BYTES);
  return body[0] === 1 ? gunzipSync(message) : message;
}

export function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
