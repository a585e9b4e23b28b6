import type { HttpPatchFacts } from './facts/http-facts';

/** `PATCH https://host/path`, with the names of the query parameters. Values may be secrets and are left out. */
export function requestTitle({ method, url }: HttpPatchFacts): string {
  const host = url.host.includes(':') ? `[${url.host}]` : url.host;
  const query = url.queryNames.length === 0 ? '' : `?${url.queryNames.join('&')}`;
  return `${method} ${url.scheme}://${host}${url.port === null ? '' : `:${url.port}`}${url.path}${query}`;
}
