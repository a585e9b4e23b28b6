import { z } from 'zod';
import { memoizeByObject } from '../../../policy/text/memoize';
import { shown } from '../../../policy/text/shown-name';
import { wordList } from '../../../policy/text/word-list';
import { httpRule, MERGE, oncePerName, request } from './define-http-rule';
import { READS } from '../facts/http-facts';
import { normalizedName, wordsOf } from '../facts/private-names';

const SECURITY = wordList(`
  auth authn authz authentication authorization login logins sso saml oauth oauth2 oidc scim ldap kerberos idp pkce jwks
  mfa 2fa totp waf firewall firewalls acl acls csrf cors csp hsts captcha encryption kms tls ssl audit retention
  visibility protected protection masked bypass enforce force trusted insecure whitelist allowlist denylist blacklist
  cidr cidrs rbac iam seccomp apparmor grant grants sudo
`);
/** Complete names, because their words are ordinary. */
const SECURITY_NAMES = new Set(
  wordList('private public ispublic isprivate anonymous guestaccess security httponly samesite'),
);
/** Parts of names and of the path, in the form that `normalizedName` returns, because their words alone are ordinary. */
const SECURITY_PHRASES = wordList(`
  twofactor multifactor passwordpolicy passwordrequire settings/session sessiontimeout sessionlifetime sessionmaxage
  sessionttl securitygroup securitycontext securitypolicy publicaccess anonymousaccess allowanonymous allowguest
  networkpolicy trustproxy trustedprox skipverif verifysignature commitsign secretscanning vulnerabilityalert dependabot
  requiredstatuscheck approvingreview stalereview codeowner repositorypermission identityprovider linksharing allowedip
  iprange sourcerange automountserviceaccount
`);

export const securitySetting = httpRule({
  name: 'http_security_setting',
  logicRevision: 3,
  defaultLevel: 'confirm',
  why: 'A setting of logins, logs, firewalls or visibility changes who can do what, though it looks like any other member.',
  config: z.strictObject({
    words: z
      .array(z.string().min(1).max(100))
      .max(500)
      .default(SECURITY)
      .describe('Words of member names and path segments, in lower case.'),
  }),
  examples: {
    bad: request({ contentType: MERGE, body: { allowForcePushes: true } }),
    good: request({ contentType: MERGE, body: { author: 'x', reinforced: true } }),
  },
  find: ({ method, url, members }, config) => {
    if (READS.has(method)) return [];
    const words = wordSet(config);
    const isSetting = oncePerName(
      (name) => wordsOf(name).some((word) => words.has(word)) || hasPhrase(normalizedName(name)),
    );
    const path = url.path.slice(0, 8192);
    const segment = path.split(/[/:]/).find(isSetting) ?? (hasPhrase(normalizedName(path)) ? path : undefined);
    const written = members
      .filter(({ name }) => isSetting(name) || SECURITY_NAMES.has(normalizedName(name)))
      .map(({ name, at }) => ({ at, what: `writes ${shown(name.slice(0, 100))}` }));
    return segment === undefined
      ? written
      : [{ at: '/url', what: `the path contains ${shown(segment.slice(0, 100))}` }, ...written];
  },
});

const hasPhrase = (normalized: string): boolean => SECURITY_PHRASES.some((phrase) => normalized.includes(phrase));

const wordSet = memoizeByObject(
  ({ words }: { readonly words: readonly string[] }): ReadonlySet<string> => new Set(words),
);
