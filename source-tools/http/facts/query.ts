import { READS, type HttpPatchFacts } from './http-facts';
import { Members } from './members';

/**
 * The parameters of the query as members, because many servers read them like those of the body: `?admin=true` of a PUT. Those of
 * a request that only reads are no members, but a server may call an address in them.
 */
export function readQuery(url: string, method: string): Pick<HttpPatchFacts, 'parameters' | 'members' | 'links'> {
  const seen = new Members();
  const parameters = [...new URL(url).searchParams].map(([name, value]) => ({ name, value }));
  for (const { name, value } of parameters) {
    if (!READS.has(method)) seen.member(name, [name], ['url'], null);
    seen.collect(value, [name], ['url']);
  }
  const { members, links } = seen.facts();
  return { parameters, members, links };
}
