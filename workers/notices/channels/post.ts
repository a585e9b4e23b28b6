import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { messageOf } from '../../../client/errors';
import { addressIn, resolvePublic } from '../public-address';
import { DELIVERED, undelivered, type Delivery } from './delivery';

const TIMEOUT_MS = 10_000;

interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly privateAddresses: readonly string[];
}

/**
 * Sends a POST request to a public address, without following redirects. Plain HTTP is only used to an allowed private address. The
 * response is not read beyond its status.
 */
export async function post({ url, headers, body, privateAddresses }: Post): Promise<Delivery> {
  const { protocol, hostname, port, pathname, search } = new URL(url);
  let address: string;
  try {
    address = await resolvePublic(hostname, privateAddresses);
  } catch (error) {
    return undelivered(messageOf(error));
  }
  if (protocol !== 'https:' && !privateAddresses.includes(address))
    return undelivered('expected https, because the address is public', true);
  const secure = protocol === 'https:';
  const options = {
    method: 'POST',
    host: address,
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    path: pathname + search,
    headers: {
      ...headers,
      host: port === '' ? hostname : `${hostname}:${port}`,
      'content-length': Buffer.byteLength(body),
    },
    // An address is not a TLS server name (RFC 6066, 3); the certificate is then compared with the address.
    servername: addressIn(hostname) === null ? hostname : '',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  };
  return new Promise((resolve) => {
    const request = (secure ? httpsRequest : httpRequest)(options, (response) => {
      const status = response.statusCode ?? 0;
      response.destroy();
      resolve(status >= 200 && status < 300 ? DELIVERED : undelivered(`HTTP status ${status}`, isPermanent(status)));
    });
    request.on('error', (error) => resolve(undelivered(error.message)));
    // Node closes the connection without an error if the server answers with another protocol.
    request.on('close', () => resolve(undelivered('the connection ended without a response')));
    request.end(body);
  });
}

/** Redirects are not followed. Of the client errors only a time-out and a rate limit pass. */
function isPermanent(status: number): boolean {
  return status >= 300 && status < 500 && status !== 408 && status !== 429;
}
