import { z } from 'zod';
import { globCovers } from '../../../policy/text/glob';
import { noConfig, parseRule, type Hit } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import { httpRule, request } from './define-http-rule';
import type { HttpPatchFacts, Reach } from '../facts/http-facts';
import { HTTP_PACK } from '../facts/http-parser';

export const httpParse = parseRule(HTTP_PACK, {
  name: 'http_parse_failure',
  logicRevision: 1,
  defaultLevel: 'forbid',
  why: 'A request that cannot be read, or reads in two ways, cannot have been reviewed.',
  examples: {
    bad: '{"method": "PATCH", "method": "DELETE", "url": "https://api.example.com/v1/orders/17"}',
    good: request(),
  },
});

export const urlAmbiguous = httpRule({
  name: 'http_url_ambiguous',
  logicRevision: 1,
  defaultLevel: 'forbid',
  why: 'An address that two readers read in two ways is checked as one place and sent to another.',
  config: noConfig,
  examples: {
    bad: request({ url: 'https://api.example.com/v1/public/%252e%252e/admin' }),
    good: request({ url: 'https://api.example.com/v1/public/a%20b?q=%2F' }),
  },
  find: ({ url }) => url.anomalies.map((what) => ({ at: '/url', what })),
});

const REACH: Readonly<Record<Exclude<Reach, 'public'>, string>> = {
  loopback: 'the machine itself',
  private: 'a private network',
  link_local: 'the local link',
  metadata: 'the metadata service of a cloud',
  reserved: 'a reserved range',
  local_name: 'a name that is not of the internet, or that stands for any address',
};

export const privateTarget = httpRule({
  name: 'http_private_target',
  logicRevision: 1,
  defaultLevel: 'forbid',
  why: 'Behind the gate lie services that trust whoever can reach them, and the metadata service that hands out keys.',
  config: z.strictObject({
    allowHosts: z
      .array(z.string().min(1).max(253))
      .max(200)
      .default([])
      .describe('Hosts inside that are meant, as they are written in a plain address.'),
  }),
  examples: {
    bad: request({ url: 'http://2852039166/latest/meta-data' }),
    good: request({ url: 'https://8.8.8.8/v1/orders/17' }),
  },
  find: ({ url }, { allowHosts }) => {
    if (url.reach === 'public' || allowHosts.some((host) => host.toLowerCase() === url.host)) return [];
    return [{ at: '/url', what: `${shown(url.host)} is ${REACH[url.reach]}` }];
  },
});

const Scope = z.strictObject({
  methods: z
    .array(z.string().regex(/^[A-Z]+$/, 'expected a method in upper case'))
    .max(20)
    .optional()
    .describe('Any where absent.'),
  hosts: z
    .array(
      z
        .string()
        .min(1)
        .max(253)
        .regex(/^(?:\*\.)?[a-z0-9.:-]+$/, 'expected a host in lower case, or *.host for all below it'),
    )
    .min(1)
    .max(200),
  paths: z
    .array(z.string().startsWith('/').max(1000))
    .min(1)
    .max(500)
    .optional()
    .describe('Globs: * within a segment, ** across them. Any where absent.'),
});
type Scope = z.infer<typeof Scope>;

function covers(scope: Scope, { method, url }: HttpPatchFacts): boolean {
  if (scope.methods !== undefined && !scope.methods.includes(method)) return false;
  const host = scope.hosts.some((entry) =>
    entry.startsWith('*.') ? url.host.endsWith(entry.slice(1)) : entry === url.host,
  );
  return host && (scope.paths === undefined || scope.paths.some((path) => globCovers(path, url.path)));
}

export const methodPathScope = httpRule({
  name: 'http_method_path_scope',
  logicRevision: 1,
  defaultLevel: 'forbid',
  why: 'An agent calls interfaces that are none of its business.',
  config: z.strictObject({
    allow: z.array(Scope).max(200).nullable().default(null).describe('What may be called; null for anything.'),
    deny: z.array(Scope).max(200).default([]).describe('Wins over `allow`.'),
    ports: z
      .array(z.int().min(1).max(65535))
      .max(20)
      .default([80, 443])
      .describe('Ports that an allowed host may have.'),
  }),
  examples: {
    bad: request({ url: 'https://api.example.com/v1/../admin/users' }),
    good: request(),
    config: { allow: [{ methods: ['PATCH'], hosts: ['api.example.com'], paths: ['/v1/**'] }] },
  },
  find: (facts, { allow, deny, ports }) => {
    if (allow === null && deny.length === 0) return [];
    const { url, method } = facts;
    const said = `${method} ${shown(`${url.host}${url.path}`.slice(0, 300))}`;
    const hits: Hit[] = [];
    if (url.anomalies.length > 0)
      hits.push({ at: '/url', what: `${said} cannot be held against the lists: ${url.anomalies[0]}` });
    if (deny.some((scope) => covers(scope, facts))) hits.push({ at: '/url', what: `${said} is on the deny list` });
    if (allow !== null && !allow.some((scope) => covers(scope, facts)))
      hits.push({ at: '/url', what: `${said} is not on the allow list` });
    if (allow !== null && (url.port === null || !ports.includes(url.port)))
      hits.push({ at: '/url', what: `port ${url.port ?? 'unknown'} is not on the list` });
    return hits;
  },
});

export const plainText = httpRule({
  name: 'http_plain_text',
  logicRevision: 1,
  defaultLevel: 'confirm',
  why: 'What is sent without encryption can be read and changed on the way.',
  config: noConfig,
  examples: { bad: request({ url: 'http://api.example.com/v1/orders/17' }), good: request() },
  find: ({ url }) =>
    url.scheme === 'https' ? [] : [{ at: '/url', what: `the request goes over ${shown(url.scheme)}` }],
});

const RARE = new Set(['DELETE', 'CONNECT', 'TRACE', 'PURGE', 'MOVE', 'COPY', 'LINK', 'UNLINK']);

export const deleteMethod = httpRule({
  name: 'http_delete_method',
  logicRevision: 1,
  defaultLevel: 'confirm',
  why: 'A DELETE has no body that shows what goes.',
  config: noConfig,
  examples: { bad: request({ method: 'DELETE', contentType: null, body: undefined }), good: request() },
  find: ({ method }) => (RARE.has(method) ? [{ at: '/method', what: `the method is ${method}` }] : []),
});
