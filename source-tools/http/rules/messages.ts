import { z } from 'zod';
import { noConfig, type Hit } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import { httpRule, MERGE, request, saidPointer } from './define-http-rule';

export const patchInvalid = httpRule({
  name: 'http_patch_invalid',
  logicRevision: 1,
  defaultLevel: 'forbid',
  why: 'A patch that does not apply was written against another document, or is read by the server in a way of its own.',
  config: noConfig,
  examples: {
    bad: request({ body: [{ op: 'replace', path: '/a~2b', value: 1 }] }),
    good: request({ body: [{ op: 'replace', path: '/a~1b', value: 1 }], document: { 'a/b': 0 } }),
  },
  find: ({ faults }) => faults.map(({ at, why }) => ({ at, what: why })),
});

export const noEffect = httpRule({
  name: 'http_no_effect',
  logicRevision: 1,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'A change that changes nothing was written against another document than the one meant.',
  config: noConfig,
  examples: {
    bad: request({ contentType: MERGE, body: { note: 'x' }, document: { note: 'x' } }),
    good: request({ contentType: MERGE, body: { note: 'x' }, document: { note: 'y' } }),
  },
  find: ({ changesNothing }) => (changesNothing ? [{ at: '/body', what: 'the document stays as it is' }] : []),
});

const CREDENTIALS = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
  'apikey',
  'x-auth-token',
  'x-access-token',
  'x-amz-security-token',
  'x-goog-api-key',
  'x-vault-token',
  'x-csrf-token',
  'x-functions-key',
  'ocp-apim-subscription-key',
  'private-token',
  'x-gitlab-token',
  'x-session-token',
]);

export const authHeader = httpRule({
  name: 'http_auth_header',
  logicRevision: 1,
  defaultLevel: 'forbid',
  why: 'Credentials are the committer’s to add; one that an agent writes is a stolen one, or a leaked one.',
  config: z.strictObject({
    allow: z
      .array(z.string().min(1).max(200))
      .max(50)
      .default([])
      .describe('Names of headers that may be set, in any case.'),
  }),
  examples: {
    bad: request({ headers: { 'If-Match': '"7"', AUTHORIZATION: 'Bearer x' } }),
    good: request({ headers: { 'If-Match': '"7"', Accept: 'application/json' } }),
  },
  find: ({ headers }, { allow }) => {
    const allowed = new Set(allow.map((name) => name.toLowerCase()));
    return headers
      .filter(({ name }) => CREDENTIALS.has(name) && !allowed.has(name))
      .map(({ name, at }) => ({ at, what: `the header ${shown(name)} carries a credential` }));
  },
});

const ROUTING = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'x-original-url',
  'x-rewrite-url',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'content-encoding',
]);

export const overrideHeader = httpRule({
  name: 'http_override_header',
  logicRevision: 1,
  defaultLevel: 'forbid',
  why: 'Such a header makes the request another one than its method and address say.',
  config: noConfig,
  examples: {
    bad: request({ headers: { 'If-Match': '"7"', 'X-HTTP-Method-Override': 'DELETE' } }),
    good: request({ headers: { 'If-Match': '"7"', 'X-Request-Id': '1' } }),
  },
  find: ({ headers }) =>
    headers
      .filter(({ name }) => ROUTING.has(name) || name.startsWith('x-forwarded-') || name.startsWith('proxy-'))
      .map(({ name, at }) => ({ at, what: `the header ${shown(name)} redirects or reinterprets the request` })),
});

export const contentTypeMismatch = httpRule({
  name: 'http_content_type_mismatch',
  logicRevision: 1,
  defaultLevel: 'confirm',
  why: 'Read as another type, the same body means something else: an array of operations replaces a document.',
  config: noConfig,
  examples: {
    bad: request({ contentType: MERGE }),
    good: request({ contentType: MERGE, body: { note: 'x' } }),
  },
  find: ({ method, contentType, body, operations, writes, members }) => {
    const hits: Hit[] = [];
    const said = (what: string): number => hits.push({ at: '/contentType', what });
    const looksLikePatch =
      body !== 'json-patch' && members.some(({ name, pointer }) => name === 'op' && /^\/\d{1,6}\/op$/.test(pointer));
    if (body !== 'none' && contentType === null) said('a body without a content type');
    if (looksLikePatch) said('a body that looks like a JSON Patch, under another type');
    if (body === 'json-patch' && operations === 0 && writes.length === 0) said('a JSON Patch without operations');
    if (body !== 'none' && (method === 'GET' || method === 'HEAD' || method === 'DELETE'))
      said(`a body under ${method}`);
    if ((body === 'json-patch' || body === 'merge-patch') && method !== 'PATCH') said(`a patch under ${method}`);
    if (body === 'none' && (method === 'PATCH' || method === 'PUT')) said(`${method} without a body`);
    return hits;
  },
});

export const opaqueBody = httpRule({
  name: 'http_opaque_body',
  logicRevision: 1,
  defaultLevel: 'confirm',
  why: 'The rules read JSON; of any other body they know only that it is there.',
  config: noConfig,
  examples: {
    bad: request({ contentType: 'application/x-www-form-urlencoded', body: 'role=admin' }),
    good: request(),
  },
  find: ({ body }) => (body === 'text' ? [{ at: '/body', what: 'a body that is not JSON' }] : []),
});

export const idempotencyKey = httpRule({
  name: 'http_idempotency_key',
  logicRevision: 1,
  defaultLevel: 'confirm',
  why: 'A POST that is repeated after a lost answer makes a second one.',
  config: noConfig,
  advice: ['Send an Idempotency-Key.'],
  examples: {
    bad: request({ method: 'POST', contentType: 'application/json', body: { note: 'x' } }),
    good: request({
      method: 'POST',
      contentType: 'application/json',
      headers: { 'Idempotency-Key': '17' },
      body: { note: 'x' },
    }),
  },
  find: ({ method, headers }) =>
    method === 'POST' && !headers.some(({ name, value }) => name === 'idempotency-key' && value.trim() !== '')
      ? [{ at: '/method', what: 'POST without an Idempotency-Key' }]
      : [],
});

const NAMES = new Set(['__proto__', 'constructor', 'prototype']);

export const prototypePollution = httpRule({
  name: 'http_prototype_pollution',
  logicRevision: 1,
  defaultLevel: 'confirm',
  why: 'To a server in JavaScript these names are not members but the object all others come from.',
  config: noConfig,
  examples: {
    bad: request({ body: [{ op: 'add', path: '/__proto__/isAdmin', value: true }] }),
    good: request({ body: [{ op: 'add', path: '/note', value: '__proto__' }] }),
  },
  find: ({ members }) =>
    members
      .filter(({ name }) => NAMES.has(name))
      .map(({ name, pointer, at }) => ({ at, what: `${shown(name)} is written, at ${saidPointer(pointer)}` })),
});
