import type { HttpPatchFacts } from './facts/http-facts';

/** `PATCH https://host/path`, with the names of the query parameters. Values may be secrets and are left out. */
export function requestTitle({ method, url }: HttpPatchFacts): string {
  const host = url.host.includes(':') ? `[${url.host}]` : url.host;
  const port = url.port === null || url.port === DEFAULT_PORTS[url.scheme] ? '' : `:${url.port}`;
  const query = url.queryNames.length === 0 ? '' : `?${url.queryNames.join('&')}`;
  return `${method} ${url.scheme}://${host}${port}${url.path}${query}`;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { https: 443, http: 80 };
