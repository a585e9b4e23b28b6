/** Reads a stream to its end. Throws if it has more than `max` bytes; `name`: how the message names the input. */
export async function readAtMost(stream: AsyncIterable<Buffer>, max: number, name: string): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > max) throw new Error(`${name}: expected at most ${max} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
