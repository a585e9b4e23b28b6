import type { HttpPatchFacts } from '../facts/http-facts';
import type { HttpAccess } from './http-access';

/**
 * Staged headers that are forwarded. Staging compares If-Match with the resource. Any other header could be a credential, another
 * precondition or an attack on message framing.
 */
const FORWARDED = new Set(['accept', 'accept-language', 'prefer', 'content-type', 'if-match']);

/** Why a staged request must not be sent to this target, or null. */
export function refusedPlace({ url, headers }: HttpPatchFacts, text: string, http: HttpAccess['http']): string | null {
  const [anomaly] = url.anomalies;
  if (anomaly !== undefined) return `its URL is ambiguous: ${anomaly}`;
  const other = headers.find(({ name }) => !FORWARDED.has(name));
  if (other !== undefined)
    return `header ${other.name} is not allowed: only ${[...FORWARDED].join(', ')} are forwarded`;
  return outsideTarget(text, http);
}

/** Why a URL is outside the target, or null. */
export function outsideTarget(text: string, { baseUrl, queryNames }: HttpAccess['http']): string | null {
  const url = new URL(text);
  const base = new URL(baseUrl);
  const root = base.pathname.replace(/\/$/, '');
  if (url.origin !== base.origin || url.username !== '' || url.password !== '')
    return `its URL is not on ${base.origin}`;
  if (url.pathname !== root && !url.pathname.startsWith(`${root}/`)) return `its URL is not below ${base.pathname}`;
  const name = [...url.searchParams.keys()].find((key) => !queryNames.includes(key));
  return name === undefined ? null : 'its query has a parameter that the target does not allow';
}
