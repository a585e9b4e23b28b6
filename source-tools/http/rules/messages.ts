import { z } from 'zod';
import type { Hit } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import { httpRule, MERGE, request, formatPointer } from './define-http-rule';
import { wordList } from '../../../policy/text/word-list';

export const patchInvalid = httpRule({
  name: 'http_patch_invalid',
  logicRevision: 2,
  defaultLevel: 'forbid',
  why: 'A patch that does not apply was written against another document, or depends on how the server interprets it.',
  examples: {
    bad: request({ body: [{ op: 'replace', path: '/a~2b', value: 1 }] }),
    good: request({ body: [{ op: 'replace', path: '/a~1b', value: 1 }], document: { 'a/b': 0 } }),
  },
  find: ({ faults }) => faults.map(({ at, why }) => ({ at, what: why })),
});

export const noEffect = httpRule({
  name: 'http_no_effect',
  logicRevision: 2,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'A change without effect was probably written against the wrong document.',
  examples: {
    bad: request({ contentType: MERGE, body: { note: 'x' }, document: { note: 'x' } }),
    good: request({ contentType: MERGE, body: { note: 'x' }, document: { note: 'y' } }),
  },
  find: ({ changesNothing }) => (changesNothing ? [{ at: '/body', what: 'the document does not change' }] : []),
});

const CREDENTIALS = new Set(
  wordList(`
  authorization proxy-authorization cookie set-cookie x-api-key api-key apikey x-auth-token x-access-token
  x-amz-security-token x-goog-api-key x-vault-token x-csrf-token x-functions-key ocp-apim-subscription-key
  private-token x-gitlab-token x-session-token
`),
);

export const authHeader = httpRule({
  name: 'http_auth_header',
  logicRevision: 2,
  defaultLevel: 'forbid',
  why: 'The committer adds credentials. A credential in a staged request is leaked or stolen.',
  config: z.strictObject({
    allow: z
      .array(z.string().min(1).max(200))
      .max(50)
      .default([])
      .describe('Names of allowed headers. Case is ignored.'),
  }),
  examples: {
    bad: request({ headers: { 'If-Match': '"7"', AUTHORIZATION: 'Bearer x' } }),
    good: request({ headers: { 'If-Match': '"7"', Accept: 'application/json' } }),
  },
  find: ({ headers }, { allow }) => {
    const allowed = new Set(allow.map((name) => name.toLowerCase()));
    return headers
      .filter(({ name }) => CREDENTIALS.has(name) && !allowed.has(name))
      .map(({ name, at }) => ({ at, what: `the header ${shown(name)} contains a credential` }));
  },
});

const ROUTING = new Set(
  wordList(`
  host connection content-length transfer-encoding te trailer upgrade forwarded via x-real-ip x-client-ip
  true-client-ip cf-connecting-ip x-original-url x-rewrite-url x-http-method x-http-method-override x-method-override
  content-encoding
`),
);

export const overrideHeader = httpRule({
  name: 'http_override_header',
  logicRevision: 2,
  defaultLevel: 'forbid',
  why: 'These headers change where the request goes or how the server interprets it.',
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
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'The same body means something else under another content type: an array of operations could replace the document.',
  examples: {
    bad: request({ contentType: MERGE }),
    good: request({ contentType: MERGE, body: { note: 'x' } }),
  },
  find: ({ method, contentType, body, operations, writes, members }) => {
    const hits: Hit[] = [];
    const report = (what: string): number => hits.push({ at: '/contentType', what });
    const looksLikePatch =
      body !== 'json-patch' && members.some(({ name, pointer }) => name === 'op' && /^\/\d{1,6}\/op$/.test(pointer));
    if (body !== 'none' && contentType === null) report('a body without a content type');
    if (looksLikePatch) report('a body that looks like a JSON Patch but has another content type');
    if (body === 'json-patch' && operations === 0 && writes.length === 0) report('a JSON Patch without operations');
    if (body !== 'none' && (method === 'GET' || method === 'HEAD' || method === 'DELETE'))
      report(`a body in a ${method} request`);
    if ((body === 'json-patch' || body === 'merge-patch') && method !== 'PATCH')
      report(`a patch in a ${method} request`);
    if (body === 'none' && (method === 'PATCH' || method === 'PUT')) report(`${method} without a body`);
    return hits;
  },
});

export const opaqueBody = httpRule({
  name: 'http_opaque_body',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'The rules read only JSON and cannot inspect any other body.',
  examples: {
    bad: request({ contentType: 'application/x-www-form-urlencoded', body: 'role=admin' }),
    good: request(),
  },
  find: ({ body }) => (body === 'text' ? [{ at: '/body', what: 'a body that is not JSON' }] : []),
});

export const idempotencyKey = httpRule({
  name: 'http_idempotency_key',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'A POST that is retried after a lost response can create a duplicate.',
  advice: ['Send an Idempotency-Key header.'],
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
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'On a JavaScript server these names can modify the prototype of all objects.',
  examples: {
    bad: request({ body: [{ op: 'add', path: '/__proto__/isAdmin', value: true }] }),
    good: request({ body: [{ op: 'add', path: '/note', value: '__proto__' }] }),
  },
  find: ({ members }) =>
    members
      .filter(({ name }) => NAMES.has(name))
      .map(({ name, pointer, at }) => ({ at, what: `writes ${shown(name)} at ${formatPointer(pointer)}` })),
});
