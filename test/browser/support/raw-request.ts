import { request, type IncomingHttpHeaders } from 'node:http';

export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface RawRequest {
  readonly method: string;
  /** A header with several values is sent once for each. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
}

/** A request with exactly these headers, which browsers and `fetch` would not send. */
export function rawRequest(url: string, { method, headers, body }: RawRequest): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: false });
    for (const [name, value] of Object.entries(headers)) sent.setHeader(name, value);
    sent.once('error', reject);
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    sent.end(body);
  });
}
