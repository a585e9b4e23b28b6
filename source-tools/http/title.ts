import type { HttpPatchFacts } from './facts/http-facts';
import { DEFAULT_PORTS } from './facts/url';
import { shownPath } from './shown-path';

/**
 * `PATCH https://host/path`, with the names of the query parameters. What may be a secret is left out: values, and random text in the
 * path.
 */
export function requestTitle({ method, url, parameters }: HttpPatchFacts): string {
  const host = url.host.includes(':') ? `[${url.host}]` : url.host;
  const port = url.port === null || url.port === DEFAULT_PORTS.get(url.scheme) ? '' : `:${url.port}`;
  const names = parameters.map(({ name }) => withoutDelimiters(name));
  const query = names.length === 0 ? '' : `?${names.join('&')}`;
  return `${method} ${url.scheme}://${host}${port}${shownPath(url.path).replaceAll(/[%?#]/g, encodeURIComponent)}${query}`;
}

/** Encodes characters that would look like another part of the URL. */
const withoutDelimiters = (text: string): string => text.replaceAll(/[%?#&=]/g, encodeURIComponent);
