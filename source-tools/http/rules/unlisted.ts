import { z } from 'zod';
import type { Hit } from '../../../policy/rules/hit';
import { memoizeByObject } from '../../../policy/text/memoize';
import { shown } from '../../../policy/text/shown-name';
import { wordList } from '../../../policy/text/word-list';
import { READS, type HttpPatchFacts } from '../facts/http-facts';
import { shownPath } from '../shown-path';
import { coversHost, formatPointer, httpRule, request } from './define-http-rule';
import { unlistedPlaces } from './listed-members';
import { isAction } from './action-words';
import { addressed, matchesPath, unknownIdentifier, type UnknownSegment } from './listed-path';
import { Pointer } from './pointers';
import { Hosts, Methods, Paths, Ports } from './scope';

const Listed = z.strictObject({
  methods: Methods.min(1),
  hosts: Hosts.min(1).optional().describe('Default: `hosts` of the rule.'),
  paths: Paths.refine(
    (paths) =>
      paths.every((path) => path.split('/').every((segment) => segment === '{id}' || !/\*\*|[{}]/.test(segment))),
    'expected {id} or one * for each segment that varies, such as /v1/orders/{id}/comments, and no ** and no other braces',
  ),
  fields: z
    .array(Pointer)
    .max(500)
    .default([])
    .describe(
      'JSON pointers of the members that the body may write, including everything below them, in addition to those that only describe a resource; * matches any one name or index, and the empty pointer the whole body.',
    ),
});

/** Types of JSON whose meaning is public. Another one can name an operation: `application/vnd.cancel-order+json`. */
const CONTENT_TYPES = wordList(`
  application/json text/json application/json-patch+json application/merge-patch+json application/vnd.api+json
  application/scim+json application/hal+json application/ld+json application/strategic-merge-patch+json
`);

const Config = z.strictObject({
  hosts: Hosts.default([]).describe(
    'Hosts, or *.host for all subdomains, where a read, and a PATCH of one resource that only writes members such as `title` and `note`, passes.',
  ),
  contentTypes: z
    .array(z.string().regex(/^[^\s;A-Z]{3,200}$/, 'expected a media type in lower case, without parameters'))
    .max(100)
    .default([])
    .describe('Media types of JSON, in addition to the public ones, that do not change what a body does.'),
  ports: Ports.describe('Ports of these hosts and of `requests`.'),
  requests: z
    .array(Listed)
    .max(200)
    .default([])
    .describe(
      'Further requests that pass, each with `methods`, `paths`, the `fields` that its body may write, and `hosts` if they are others. In a path, {id} matches an identifier, such as 17, KT-170-BL, a UUID or an e-mail address, and not a word such as all; * matches any text within a segment.',
    ),
  identifierWords: z
    .array(z.string().regex(/^[A-Za-z]{1,16}$/, 'expected letters'))
    .max(500)
    .default([])
    .describe(
      'Words in identifiers, such as SHOP of SHOP-17, which otherwise ask, because CANCEL-17 can be an action. Case is ignored. Short codes without vowels, and abbreviations of the segment before, as in /orders/ORD-17, need no entry.',
    ),
});
type Config = z.infer<typeof Config>;

/** An allowlist: only the team knows what its API does, so a person checks every request that it has not listed. */
export const unlistedRequest = httpRule({
  name: 'http_unlisted_request',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'A request can do anything, whatever its method and path are called, so only listed ones may pass without a question.',
  config: Config,
  advice: [
    'Check what the request does. If agents often send such requests, add the method, the path, with * for a segment that varies, and the members of the body as `fields` to `requests` of this rule.',
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
      return [{ at: '/url', what: `port ${url.port ?? 'unknown'} is not in \`ports\` of this rule` }];
    const requests = config.requests.filter((one) => isListed(one, facts, config));
    if (requests.length === 0) {
      const why = unknownForm(facts, config);
      if (why !== null) return [why];
    }
    if (READS.has(method)) return [];
    const fields = requests.flatMap((one) => one.fields);
    return [...contentTypeHits(facts, config), ...memberHits(facts, fields)];
  },
});

type Listed = z.infer<typeof Listed>;

const allowsMethod = ({ methods, hosts }: Listed, { method, url }: HttpPatchFacts, config: Config): boolean =>
  methods.includes(method) && coversHost(hosts ?? config.hosts, url.host);

function isListed(one: Listed, facts: HttpPatchFacts, config: Config): boolean {
  if (!allowsMethod(one, facts, config)) return false;
  return one.paths.some((path) => matchesPath(path, facts.url.path, wordsIn(config)));
}

/** The segment that is not an identifier, if a listed request differs only by it. */
function almostListed(facts: HttpPatchFacts, config: Config): UnknownSegment | null {
  for (const one of config.requests)
    if (allowsMethod(one, facts, config))
      for (const path of one.paths) {
        const unknown = unknownIdentifier(path, facts.url.path, wordsIn(config));
        if (unknown !== null) return unknown;
      }
  return null;
}

const wordsIn = memoizeByObject(
  ({ identifierWords }: Config): ReadonlySet<string> => new Set(identifierWords.map((word) => word.toLowerCase())),
);

/** Why the request does not pass by its method and the form of its path; null if it does. */
function unknownForm(facts: HttpPatchFacts, config: Config): Hit | null {
  const { method, url } = facts;
  const target = shown(`${url.host}${shownPath(url.path)}`.slice(0, 300));
  const unlisted = `${method} ${target} is not in \`requests\` of this rule`;
  const isKnown = coversHost(config.hosts, url.host) && (READS.has(method) || method === 'PATCH');
  const form = isKnown ? addressed(url, wordsIn(config)) : null;
  if (form === 'one' || (form === 'many' && READS.has(method))) return null;
  const listed = almostListed(facts, config);
  if (listed !== null) return { at: '/url', what: `${unlisted}: ${unknownPath(listed)}` };
  if (isKnown) return { at: '/url', what: `${unlisted}, and ${unknownPath(form)}` };
  if (coversHost(config.hosts, url.host)) return { at: '/method', what: unlisted };
  return { at: '/url', what: `${unlisted}, nor its host in \`hosts\`` };
}

function unknownPath(form: 'many' | null | UnknownSegment): string {
  if (form === null) return 'its path names no collection';
  if (form === 'many') return 'its path ends with a collection, not with an identifier';
  const segment = shown(shownPath(form.segment.slice(0, 100)));
  if (form.words.length === 0 || form.words.some((word) => isAction(word.toLowerCase())))
    return `${segment} does not have the form of ${form.expected === 'collection' ? 'a collection' : 'an identifier'}`;
  return `${segment} can be an action, unless \`identifierWords: [${[...new Set(form.words)].join(', ')}]\` is set`;
}

function contentTypeHits({ body, contentType, contentParameters }: HttpPatchFacts, config: Config): readonly Hit[] {
  if (body === 'none' || body === 'text') return [];
  const at = '/contentType';
  const [parameter] = contentParameters;
  if (parameter !== undefined)
    return [
      { at, what: `the parameter ${shown(parameter.slice(0, 100))} of the content type may change what the body does` },
    ];
  if (contentType === null || CONTENT_TYPES.includes(contentType) || config.contentTypes.includes(contentType))
    return [];
  return [{ at, what: `the content type ${shown(contentType)} is not in \`contentTypes\` of this rule` }];
}

function memberHits(facts: HttpPatchFacts, fields: readonly string[]): readonly Hit[] {
  if (facts.body === 'text')
    return fields.includes('') ? [] : [{ at: '/body', what: 'the body is not JSON, so what it writes is not known' }];
  return unlistedPlaces(facts, fields).map(({ kind, pointer, at }) => {
    const unlisted = `${formatPointer(pointer)} is not in \`fields\` of this rule`;
    return {
      at,
      what:
        kind === 'active-text'
          ? `${unlisted}, and contains markup, a template, a formula, a mention or a command`
          : unlisted,
    };
  });
}
