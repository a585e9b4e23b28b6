import { looksRandom } from '../../policy/rules/secrets/randomness';
import type { HttpPatchFacts } from './facts/http-facts';
import { DEFAULT_PORTS } from './facts/url';

/**
 * `PATCH https://host/path`, with the names of the query parameters. What may be a secret is left out: values, and random text in the
 * path.
 */
export function requestTitle({ method, url, parameters }: HttpPatchFacts): string {
  const host = url.host.includes(':') ? `[${url.host}]` : url.host;
  const port = url.port === null || url.port === DEFAULT_PORTS.get(url.scheme) ? '' : `:${url.port}`;
  const names = parameters.map(({ name }) => withoutDelimiters(name));
  const query = names.length === 0 ? '' : `?${names.join('&')}`;
  return `${method} ${url.scheme}://${host}${port}${pathText(url.path)}${query}`;
}

/** Encodes characters that would look like another part of the URL. */
const withoutDelimiters = (text: string): string => text.replaceAll(/[%?#&=]/g, encodeURIComponent);

const MIN_SECRET = 12;

/** Leaves out random segments, because the path of a webhook is often its secret. */
function pathText(path: string): string {
  const isSecret = (segment: string): boolean => segment.length >= MIN_SECRET && looksRandom(segment);
  return path
    .split('/')
    .map((segment) => (isSecret(segment) ? '…' : segment.replaceAll(/[%?#]/g, encodeURIComponent)))
    .join('/');
}
