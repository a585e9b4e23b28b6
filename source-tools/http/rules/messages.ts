import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import { READS } from '../facts/http-facts';
import { readingsOfName } from '../facts/private-names';
import { httpRule, MERGE, request, formatPointer } from './define-http-rule';

export const patchInvalid = httpRule({
  name: 'http_patch_invalid',
  logicRevision: 4,
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
  logicRevision: 3,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'A change without effect was probably written against the wrong document.',
  examples: {
    bad: request({ contentType: MERGE, body: { note: 'x' }, document: { note: 'x' } }),
    good: request({ contentType: MERGE, body: { note: 'x' }, document: { note: 'y' } }),
  },
  find: ({ changesNothing }) => (changesNothing ? [{ at: '/body', what: 'the document does not change' }] : []),
});

export const contentTypeMismatch = httpRule({
  name: 'http_content_type_mismatch',
  logicRevision: 4,
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
    if (body !== 'none' && (READS.has(method) || method === 'DELETE')) report(`a body in a ${method} request`);
    if ((body === 'json-patch' || body === 'merge-patch') && method !== 'PATCH')
      report(`a patch in a ${method} request`);
    if (body === 'none' && (method === 'PATCH' || method === 'PUT')) report(`${method} without a body`);
    return hits;
  },
});

export const opaqueBody = httpRule({
  name: 'http_opaque_body',
  logicRevision: 3,
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
  logicRevision: 3,
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
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'On a JavaScript server these names can modify the prototype of all objects.',
  examples: {
    bad: request({ body: [{ op: 'add', path: '/__proto__/isAdmin', value: true }] }),
    good: request({ body: [{ op: 'add', path: '/note', value: '__proto__' }] }),
  },
  find: ({ members }) =>
    members
      .filter(({ name }) => readingsOfName(name).some((part) => NAMES.has(part)))
      .map(({ name, pointer, at }) => ({ at, what: `writes ${shown(name)} at ${formatPointer(pointer)}` })),
});
