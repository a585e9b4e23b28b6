import { z } from 'zod';
import type { Hit } from '../../../policy/rules/hit';
import { parseRule } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import { allowedHosts, coversHost, httpRule, request, withoutFinalDots } from './define-http-rule';
import type { HttpPatchFacts, Reach } from '../facts/http-facts';
import { HTTP_PACK } from '../facts/http-parser';
import { shownPath } from '../shown-path';
import { covers, Ports, Scope } from './scope';

export const httpParse = parseRule(HTTP_PACK, {
  name: 'http_parse_failure',
  logicRevision: 3,
  defaultLevel: 'forbid',
  why: 'A request that cannot be parsed, or that two parsers read differently, cannot be reviewed.',
  examples: {
    bad: '{"method": "PATCH", "method": "DELETE", "url": "https://api.example.com/v1/orders/17"}',
    good: request(),
  },
});

export const urlAmbiguous = httpRule({
  name: 'http_url_ambiguous',
  logicRevision: 3,
  defaultLevel: 'forbid',
  why: 'If two parsers read a URL differently, it may be checked as one location and sent to another.',
  examples: {
    bad: request({ url: 'https://api.example.com/v1/public/%252e%252e/admin' }),
    good: request({ url: 'https://api.example.com/v1/public/a%20b?q=%2F' }),
  },
  find: ({ url }) => url.anomalies.map((what) => ({ at: '/url', what })),
});

const REACH: Readonly<Record<Exclude<Reach, 'public'>, string>> = {
  loopback: 'a loopback address',
  private: 'in a private network',
  link_local: 'a link-local address',
  metadata: 'the metadata service of a cloud provider',
  reserved: 'in a reserved address range',
  local_name: 'not a public name, or a name that can resolve to any address',
};

export const privateTarget = httpRule({
  name: 'http_private_target',
  logicRevision: 4,
  defaultLevel: 'forbid',
  why: 'Internal services often trust every caller, and the cloud metadata service returns credentials.',
  config: z.strictObject({
    allowHosts: allowedHosts(
      'Internal hosts that requests may target, in canonical form; *.host for all its subdomains.',
    ),
  }),
  examples: {
    bad: request({ url: 'http://2852039166/latest/meta-data' }),
    good: request({ url: 'https://8.8.8.8/v1/orders/17' }),
  },
  find: ({ url }, { allowHosts }) => {
    if (url.reach === 'public' || coversHost(allowHosts, url.host)) return [];
    return [{ at: '/url', what: `${shown(url.host)} is ${REACH[url.reach]}` }];
  },
});

const allows = (scope: Scope, { method, url }: HttpPatchFacts): boolean => covers(scope, method, url.host, url.path);

/** `paths`: the readings of the path. */
function denies(scope: Scope, { method, url }: HttpPatchFacts, paths: readonly string[]): boolean {
  const globs = scope.paths?.map((path) => path.toLowerCase());
  return paths.some((path) => covers({ ...scope, paths: globs }, method, url.host, path));
}

/** Without what some servers ignore: case, dots and spaces at the end of a segment, and a slash at the end of the path. */
function readingsOfPath(path: string): readonly string[] {
  const lower = path.toLowerCase();
  return [lower, lower.split('/').map(withoutFinalDots).join('/')].flatMap((reading) =>
    reading.endsWith('/') ? [reading, reading.slice(0, -1)] : [reading],
  );
}

export const methodPathScope = httpRule({
  name: 'http_method_path_scope',
  logicRevision: 7,
  defaultLevel: 'forbid',
  why: 'An agent must call only the APIs within its assigned scope.',
  config: z.strictObject({
    allow: z.array(Scope).max(200).nullable().default(null).describe('Allowed requests; null allows any.'),
    deny: z
      .array(Scope)
      .max(200)
      .default([])
      .describe(
        'Denied requests; they override `allow`. Case, dots and spaces at the end of a segment, and a slash at the end of the path are ignored.',
      ),
    ports: Ports.describe('Allowed ports of an allowed host.'),
  }),
  examples: {
    bad: request({ url: 'https://api.example.com/v1/../admin/users' }),
    good: request(),
    config: { allow: [{ methods: ['PATCH'], hosts: ['api.example.com'], paths: ['/v1/**'] }] },
  },
  find: (facts, { allow, deny, ports }) => {
    if (allow === null && deny.length === 0) return [];
    const { url, method } = facts;
    const target = `${method} ${shown(`${url.host}${shownPath(url.path)}`.slice(0, 300))}`;
    const hits: Hit[] = [];
    if (url.anomalies.length > 0)
      hits.push({ at: '/url', what: `${target} cannot be compared with the lists: ${url.anomalies[0]}` });
    const paths = readingsOfPath(url.path);
    if (deny.some((scope) => denies(scope, facts, paths)))
      hits.push({ at: '/url', what: `${target} is on the deny list` });
    if (allow !== null && !allow.some((scope) => allows(scope, facts)))
      hits.push({ at: '/url', what: `${target} is not on the allow list` });
    if (allow !== null && (url.port === null || !ports.includes(url.port)))
      hits.push({ at: '/url', what: `port ${url.port ?? 'unknown'} is not an allowed port` });
    return hits;
  },
});

export const plainText = httpRule({
  name: 'http_plain_text',
  logicRevision: 3,
  defaultLevel: 'confirm',
  why: 'A request without encryption can be read and modified in transit.',
  examples: { bad: request({ url: 'http://api.example.com/v1/orders/17' }), good: request() },
  find: ({ url }) =>
    url.scheme === 'https' ? [] : [{ at: '/url', what: `the request uses ${shown(url.scheme)} instead of https` }],
});
