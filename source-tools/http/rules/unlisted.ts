import { z } from 'zod';
import type { Hit } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import { READS, type HttpPatchFacts } from '../facts/http-facts';
import { coversHost, formatPointer, httpRule, request } from './define-http-rule';
import { unlistedPlaces } from './listed-members';
import { addressed } from './listed-path';
import { Pointer } from './pointers';
import { covers, Hosts, Methods, Paths, Ports } from './scope';

const Listed = z.strictObject({
  methods: Methods.min(1),
  hosts: Hosts.min(1).optional().describe('Default: `hosts` of the rule.'),
  paths: Paths.refine(
    (paths) => !paths.some((path) => path.includes('**')),
    'expected no **: write one * for each segment that varies, such as /v1/orders/*/comments',
  ).describe('Globs: * matches within a segment.'),
  fields: z
    .array(Pointer)
    .max(500)
    .default([])
    .describe(
      'JSON pointers of the members that the body may write, including everything below them, in addition to those that only describe a resource; * matches any one name or index, and the empty pointer the whole body.',
    ),
});

const Config = z.strictObject({
  hosts: Hosts.default([]).describe(
    'Hosts, or *.host for all subdomains, where a read, and a PATCH of one resource that only writes members such as `title` and `note`, passes.',
  ),
  ports: Ports.describe('Ports of these hosts and of `requests`.'),
  requests: z.array(Listed).max(200).default([]).describe('Further requests that pass.'),
});
type Config = z.infer<typeof Config>;

/** An allowlist: only the team knows what its API does, so a person checks every request that it has not listed. */
export const unlistedRequest = httpRule({
  name: 'http_unlisted_request',
  logicRevision: 1,
  defaultLevel: 'confirm',
  why: 'A request can do anything, whatever its method and path are called, so only listed ones may pass without a question.',
  config: Config,
  advice: [
    'Check what the request does. If agents often send such requests, add the method, the path and the members of the body to `requests` of this rule.',
  ],
  examples: {
    bad: request({
      method: 'POST',
      url: 'https://api.example.com/v1/orders/42/sync',
      contentType: null,
      body: undefined,
    }),
    good: request(),
    config: { hosts: ['api.example.com'] },
  },
  find: (facts, config) => {
    const { url, method } = facts;
    if (url.anomalies.length > 0)
      return [{ at: '/url', what: `the URL cannot be compared with the list of this rule: ${url.anomalies[0]}` }];
    if (url.port === null || !config.ports.includes(url.port))
      return [{ at: '/url', what: `port ${url.port ?? 'unknown'} is not on the list of this rule` }];
    const requests = config.requests.filter((one) =>
      covers({ ...one, hosts: one.hosts ?? config.hosts }, method, url.host, url.path),
    );
    if (requests.length === 0) {
      const why = unknownForm(facts, config);
      if (why !== null) return [why];
    }
    if (READS.has(method)) return [];
    return memberHits(
      facts,
      requests.flatMap(({ fields }) => fields),
    );
  },
});

/** Why the request does not pass by its method and the form of its path; null if it does. */
function unknownForm({ method, url }: HttpPatchFacts, { hosts }: Config): Hit | null {
  const target = `${method} ${shown(`${url.host}${url.path}`.slice(0, 300))} is not on the list of this rule`;
  if (!coversHost(hosts, url.host)) return { at: '/url', what: target };
  if (READS.has(method))
    return addressed(url) === null
      ? {
          at: '/url',
          what: `${target}, and its path does not consist of collections and identifiers, as /orders/17 does`,
        }
      : null;
  if (method !== 'PATCH') return { at: '/method', what: target };
  return addressed(url) === 'one'
    ? null
    : {
        at: '/url',
        what: `${target}, and its path does not end with a collection and an identifier, as /orders/17 does`,
      };
}

function memberHits(facts: HttpPatchFacts, fields: readonly string[]): readonly Hit[] {
  if (facts.body === 'text')
    return fields.includes('') ? [] : [{ at: '/body', what: 'the body is not JSON, so what it writes is not known' }];
  return unlistedPlaces(facts, fields).map(({ pointer, at }) => ({
    at,
    what: `${formatPointer(pointer)} is not on the list of this rule`,
  }));
}
