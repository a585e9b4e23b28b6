import { z } from 'zod';
import type { Hit } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import { READS, type HttpHeader } from '../facts/http-facts';
import { normalizedName, readingsOfName } from '../facts/private-names';
import { valueKind } from '../facts/value-kind';
import { httpRule, MERGE, request, formatPointer } from './define-http-rule';
import { pointerOf } from '../../../policy/text/json-pointer';
import { wordList } from '../../../policy/text/word-list';

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

const AllowedHeaders = z.strictObject({
  allow: z.array(z.string().min(1).max(200)).max(50).default([]).describe('Names of allowed headers. Case is ignored.'),
});

const CREDENTIALS = new Set(
  wordList(`
  authorization proxy-authorization cookie set-cookie x-api-key api-key apikey x-auth-token x-access-token
  x-amz-security-token x-goog-api-key x-vault-token x-csrf-token x-functions-key ocp-apim-subscription-key
  private-token x-gitlab-token x-session-token
`),
);

/** Names of parameters in the form that `normalizedName` returns. */
const CREDENTIAL_PARAMETERS = new Set(
  wordList(`
  accesstoken authtoken apikey xapikey hapikey subscriptionkey clientsecret privatetoken password passwd pwd secret
  xamzsignature xgoogsignature sig xamzsecuritytoken xvaulttoken idtoken refreshtoken sessiontoken oauthtoken token jwt
  bearer authorization
`),
);

export const authHeader = httpRule({
  name: 'http_auth_header',
  logicRevision: 5,
  defaultLevel: 'forbid',
  why: 'The committer adds credentials. A credential in a staged request is leaked or stolen.',
  config: AllowedHeaders,
  examples: {
    bad: request({ headers: { 'If-Match': '"7"', AUTHORIZATION: 'Bearer x' } }),
    good: request({ headers: { 'If-Match': '"7"', Accept: 'application/json' } }),
  },
  find: ({ headers, url }, { allow }) => {
    const allowed = new Set(allow.map((name) => name.toLowerCase()));
    return [
      ...headers
        .filter(({ name }) => CREDENTIALS.has(name) && !allowed.has(name))
        .map(({ name, at }) => ({ at, what: `the header ${shown(name)} contains a credential` })),
      ...url.queryNames
        .filter(isCredential)
        .map((name) => ({ at: '/url', what: `the query parameter ${shown(name)} contains a credential` })),
    ];
  },
});

function isCredential(parameter: string): boolean {
  return readingsOfName(parameter).some((part) => CREDENTIAL_PARAMETERS.has(normalizedName(part)));
}

const ROUTING = new Set(
  wordList(`
  host connection keep-alive content-length transfer-encoding te trailer upgrade expect forwarded via x-real-ip
  x-client-ip client-ip x-cluster-client-ip x-remote-ip x-remote-addr x-originating-ip true-client-ip fastly-client-ip
  cf-connecting-ip cf-connecting-ipv6 x-host x-original-host x-original-url x-rewrite-url x-override-url x-http-method
  x-http-method-override x-method-override x-http-destinationurl x-custom-ip-authorization content-encoding destination
  base-url
`),
);

export const overrideHeader = httpRule({
  name: 'http_override_header',
  logicRevision: 6,
  defaultLevel: 'forbid',
  why: 'Such a header, parameter or member changes where the request goes or how the server interprets it.',
  examples: {
    bad: request({ headers: { 'If-Match': '"7"', 'X-HTTP-Method-Override': 'DELETE' } }),
    good: request({ headers: { 'If-Match': '"7"', 'X-Request-Id': '1' } }),
  },
  find: ({ headers, url, members }) => [
    ...headers
      .filter(({ name }) => isRouting(name))
      .map(({ name, at }) => ({ at, what: `the header ${shown(name)} redirects or reinterprets the request` })),
    ...url.queryNames
      .filter(isOverride)
      .map((name) => ({ at: '/url', what: `the query parameter ${shown(name)} replaces the method` })),
    ...members
      .filter(({ name, at }) => BODY_OVERRIDE.test(name) && isOverride(name) && at === pointerOf(['body', name]))
      .map(({ name, at }) => ({ at, what: `the member ${shown(name)} replaces the method` })),
  ],
});

const ROUTING_PREFIXES = ['x-forwarded-', 'proxy-', 'x-envoy-', 'x-amzn-', 'x-original-', 'x-middleware-'];
const OVERRIDES = new Set(
  wordList('httpmethod xhttpmethod methodoverride xmethodoverride httpmethodoverride xhttpmethodoverride'),
);

/** Members such as `_method` of a form. `httpMethod` alone is an ordinary setting, such as of a monitor. */
const BODY_OVERRIDE = /^(?:_|x-)/i;

/** Whether a server may read the parameter as the method. `method` alone is an ordinary name, such as of a payment. */
function isOverride(parameter: string): boolean {
  const name = parameter.toLowerCase();
  const letters = name.replaceAll(/[^a-z]/g, '');
  return OVERRIDES.has(letters) || (letters === 'method' && name !== letters);
}

/** Headers by which a gateway, a proxy or a service decides for whom a request acts. */
const IDENTITY = new Set(
  wordList(`
  x-tenant x-tenant-id x-tenantid tenant tenant-id x-org x-org-id x-organization x-organization-id x-account x-account-id
  x-scope-orgid x-workspace-id x-project-id x-customer-id x-company-id x-team-id x-realm x-user x-user-id x-userid
  x-username x-user-name x-user-email x-email x-user-role x-user-roles x-role x-roles x-groups x-admin x-is-admin
  x-permissions x-scopes x-remote-user remote-user x-authenticated-user x-auth-user x-webauth-user x-forwarded-user
  x-impersonate-user x-impersonate impersonate-user impersonate-group impersonate-uid x-act-as x-on-behalf-of
  x-goog-user-project x-goog-authenticated-user-email x-ms-client-principal x-ms-client-principal-id stripe-account sudo
  x-sudo x-consumer-id x-consumer-username x-internal x-internal-request
`),
);

/** Parameters of such a meaning, in the form that `normalizedName` returns: `doAs` of Hadoop, `sudo` of GitLab. */
const IDENTITY_PARAMETERS = new Set(
  wordList('sudo impersonate impersonateuser onbehalfof actas runas doas loginas asuser'),
);

/** Headers that do not say for whom a request acts or what it does. Any other one may, as each service names its own. */
const ORDINARY = new Set(
  wordList(`
  accept accept-charset accept-encoding accept-language cache-control content-language content-type date
  idempotency-key x-idempotency-key if-match if-modified-since if-none-match if-unmodified-since pragma user-agent
  x-request-id x-correlation-id request-id correlation-id traceparent tracestate baggage b3 x-b3-traceid x-b3-spanid
  x-b3-parentspanid x-b3-sampled x-api-version api-version x-github-api-version stripe-version notion-version
  intercom-version square-version anthropic-version ld-api-version odata-version odata-maxversion x-contentful-version
  client-request-id x-ms-client-request-id sentry-trace x-requested-with
`),
);

/**
 * Parameters, in the form that `normalizedName` returns, that say what a response contains or which version of an API is called.
 * Any other one may choose other resources, another operation or an option, as `filter`, `action` and
 * `cascade` do.
 */
const ORDINARY_PARAMETERS = new Set(
  wordList(`
  fields $fields select $select expand $expand include pretty prettyprint format alt locale lang language apiversion
  fieldmanager fieldvalidation idempotencykey requestid correlationid
`),
);

/** Parameters of a request that reads, in the form that `normalizedName` returns, that say which part of a collection it reads. */
const READING_PARAMETERS = new Set(
  wordList(`
  page pagesize perpage pagetoken limit offset cursor after before since until sort sortby order orderby q search filter
  filters $filter $top $skip $orderby $search $count
`),
);

/** Whether the parameter is known not to change what the request does. `filter[state]` is read as `filter`. */
function isOrdinaryParameter(name: string, method: string): boolean {
  const first = normalizedName(name.split('[', 1)[0] as string);
  return ORDINARY_PARAMETERS.has(normalizedName(name)) || (READS.has(method) && READING_PARAMETERS.has(first));
}

/** Values of Prefer (RFC 7240) that only say what the response contains. */
const PREFERENCE = /^(?:return=(?:minimal|representation|headers-only)|wait=\d+|handling=strict)$/i;

function isOrdinary({ name, value }: HttpHeader): boolean {
  // Such as a lookup, which the logs of some servers evaluate.
  if (valueKind(value) === 'active-text') return false;
  if (name === 'prefer') return value.split(',').every((preference) => PREFERENCE.test(preference.trim()));
  return ORDINARY.has(name);
}

export const tenantHeader = httpRule({
  name: 'http_tenant_header',
  logicRevision: 7,
  defaultLevel: 'confirm',
  why: 'Services trust headers and some parameters, so a request with one can act for another tenant or user, or do something else.',
  config: AllowedHeaders.extend({
    allowParameters: AllowedHeaders.shape.allow.describe('Names of allowed query parameters. Case is ignored.'),
  }),
  examples: {
    bad: request({ headers: { 'If-Match': '"7"', 'X-Tenant-Id': '42' } }),
    good: request({ headers: { 'If-Match': '"7"', 'X-Request-Id': '42' } }),
  },
  find: ({ method, headers, url }, { allow, allowParameters }) => {
    const [allowed, parameters] = [allow, allowParameters].map((names) => new Set(names.map((n) => n.toLowerCase())));
    const named = headers.flatMap((header): readonly Hit[] => {
      const { name, at } = header;
      if (allowed?.has(name) === true || isOrdinary(header)) return [];
      if (name === 'prefer' || ORDINARY.has(name))
        return [{ at, what: `the value of the header ${shown(name)} may change what the request does` }];
      if (isIdentity(name)) return [{ at, what: `the header ${shown(name)} says for whom the request acts` }];
      // Other rules report these.
      if (CREDENTIALS.has(name) || isRouting(name)) return [];
      return [{ at, what: `the header ${shown(name)} is not known, so it may change what the request does` }];
    });
    const others = url.queryNames.filter((name) => parameters?.has(name.toLowerCase()) !== true);
    return [...named, ...others.flatMap((name) => parameterHits(name, method))];
  },
});

function parameterHits(name: string, method: string): readonly Hit[] {
  const parameter = `the query parameter ${shown(name.slice(0, 100))}`;
  const normalized = normalizedName(name);
  if (IDENTITY_PARAMETERS.has(normalized)) return [{ at: '/url', what: `${parameter} says for whom the request acts` }];
  // Other rules report these.
  if (isOrdinaryParameter(name, method) || isCredential(name) || isOverride(name)) return [];
  return [{ at: '/url', what: `${parameter} is not known, so it may change what the request does` }];
}

function isRouting(name: string): boolean {
  return ROUTING.has(name) || ROUTING_PREFIXES.some((prefix) => name.startsWith(prefix));
}

function isIdentity(name: string): boolean {
  return IDENTITY.has(name) || IDENTITY_PREFIXES.some((prefix) => name.startsWith(prefix));
}

const IDENTITY_PREFIXES = ['impersonate-', 'x-impersonate-', 'x-tenant-', 'x-internal-', 'x-auth-request-'];

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
