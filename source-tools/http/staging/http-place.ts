import type { Facts } from '../../../policy/contracts/facts';
import type { HttpPatchFacts } from '../facts/http-facts';
import { misconfigured } from '../../../policy/contracts/failure';
import type { HttpAccess, TargetContext } from '../../../policy/contracts/target-effects';

/** Staged headers that are passed on; all others could be a credential, a condition or a trick with the message's frame. */
const PASSED_ON = new Set(['accept', 'accept-language', 'prefer', 'content-type']);

/** The HTTP part of a target. Throws CONFIGURATION_ERROR where it has none. */
export function httpOf({ target }: TargetContext): HttpAccess['http'] {
  if ('http' in target) return target.http;
  throw misconfigured(`target: "${target.name}" is no HTTP target in this committer's configuration`, {
    target: target.name,
  });
}

/** Why a staged request may not be sent to this target, or null. */
export function refusedPlace(facts: Facts, text: string, http: HttpAccess['http']): string | null {
  if (!facts.ok || facts.kind !== 'http-patch') return 'the request could not be read';
  const { url, headers } = facts as HttpPatchFacts;
  const [anomaly] = url.anomalies;
  if (anomaly !== undefined) return `its address can be read in two ways: ${anomaly}`;
  const other = headers.find(({ name }) => !PASSED_ON.has(name));
  if (other !== undefined) return `header ${other.name}: only ${[...PASSED_ON].join(', ')} are passed on`;
  return outside(text, http);
}

/** Why an address is none of the target's, or null. */
export function outside(text: string, { baseUrl, queryNames }: HttpAccess['http']): string | null {
  const url = new URL(text);
  const base = new URL(baseUrl);
  const root = base.pathname.replace(/\/$/, '');
  if (url.origin !== base.origin || url.username !== '' || url.password !== '')
    return `its address is not on ${base.origin}`;
  if (url.pathname !== root && !url.pathname.startsWith(`${root}/`)) return `its address is not below ${base.pathname}`;
  const name = [...url.searchParams.keys()].find((key) => !queryNames.includes(key));
  return name === undefined ? null : 'its query has a name that the target does not allow';
}
