import { z } from 'zod';
import type { Hit } from '../../../policy/rules/hit';
import { pointerOf } from '../../../policy/text/json-pointer';
import { shown } from '../../../policy/text/shown-name';
import { wordList } from '../../../policy/text/word-list';
import type { HttpHeader } from '../facts/http-facts';
import { valueKind } from '../facts/value-kind';
import { httpRule, request } from './define-http-rule';
import { AllowedParameters, isCredential, isOverride, parameterHits } from './parameters';

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
  find: ({ headers, parameters }, { allow }) => {
    const allowed = new Set(allow.map((name) => name.toLowerCase()));
    return [
      ...headers
        .filter(({ name }) => CREDENTIALS.has(name) && !allowed.has(name))
        .map(({ name, at }) => ({ at, what: `the header ${shown(name)} contains a credential` })),
      ...parameters
        .filter(({ name }) => isCredential(name))
        .map(({ name }) => ({ at: '/url', what: `the query parameter ${shown(name)} contains a credential` })),
    ];
  },
});

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
  find: ({ headers, parameters, members }) => [
    ...headers
      .filter(({ name }) => isRouting(name))
      .map(({ name, at }) => ({ at, what: `the header ${shown(name)} redirects or reinterprets the request` })),
    ...parameters
      .filter(({ name }) => isOverride(name))
      .map(({ name }) => ({ at: '/url', what: `the query parameter ${shown(name)} replaces the method` })),
    ...members
      .filter(({ name, at }) => BODY_OVERRIDE.test(name) && isOverride(name) && at === pointerOf(['body', name]))
      .map(({ name, at }) => ({ at, what: `the member ${shown(name)} replaces the method` })),
  ],
});

const ROUTING_PREFIXES = ['x-forwarded-', 'proxy-', 'x-envoy-', 'x-amzn-', 'x-original-', 'x-middleware-'];
/** Members such as `_method` of a form. `httpMethod` alone is an ordinary setting, such as of a monitor. */
const BODY_OVERRIDE = /^(?:_|x-)/i;

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

/** Headers that do not say for whom a request acts or what it does. Any other one may, as each service names its own. */
const ORDINARY = new Set(
  wordList(`
  accept accept-charset accept-encoding accept-language cache-control content-language content-type date
  idempotency-key x-idempotency-key if-match if-modified-since if-none-match if-unmodified-since pragma user-agent
  x-request-id x-correlation-id request-id correlation-id traceparent b3 x-b3-traceid x-b3-spanid
  x-b3-parentspanid x-b3-sampled x-api-version api-version x-github-api-version stripe-version notion-version
  intercom-version square-version anthropic-version ld-api-version odata-version odata-maxversion x-contentful-version
  client-request-id x-ms-client-request-id sentry-trace x-requested-with
`),
);

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
  logicRevision: 8,
  defaultLevel: 'confirm',
  why: 'Services trust headers and some parameters, so a request with one can act for another tenant or user, or do something else.',
  config: AllowedHeaders.extend({ allowParameters: AllowedParameters }),
  examples: {
    bad: request({ headers: { 'If-Match': '"7"', 'X-Tenant-Id': '42' } }),
    good: request({ headers: { 'If-Match': '"7"', 'X-Request-Id': '42' } }),
  },
  find: (facts, { allow, allowParameters }) => {
    const allowed = new Set(allow.map((name) => name.toLowerCase()));
    const named = facts.headers.flatMap((header): readonly Hit[] => {
      const { name, at } = header;
      if (allowed.has(name) || isOrdinary(header)) return [];
      if (name === 'prefer' || ORDINARY.has(name))
        return [{ at, what: `the value of the header ${shown(name)} may change what the request does` }];
      if (isIdentity(name)) return [{ at, what: `the header ${shown(name)} says for whom the request acts` }];
      // Other rules report these.
      if (CREDENTIALS.has(name) || isRouting(name)) return [];
      return [{ at, what: `the header ${shown(name)} is not known, so it may change what the request does` }];
    });
    return [...named, ...parameterHits(facts, allowParameters)];
  },
});

function isRouting(name: string): boolean {
  return ROUTING.has(name) || ROUTING_PREFIXES.some((prefix) => name.startsWith(prefix));
}

function isIdentity(name: string): boolean {
  return IDENTITY.has(name) || IDENTITY_PREFIXES.some((prefix) => name.startsWith(prefix));
}

const IDENTITY_PREFIXES = ['impersonate-', 'x-impersonate-', 'x-tenant-', 'x-internal-', 'x-auth-request-'];
