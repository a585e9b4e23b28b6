import { z } from 'zod';
import { memoizeByObject } from '../../../policy/text/memoize';
import { shown } from '../../../policy/text/shown-name';
import { wordList } from '../../../policy/text/word-list';
import { httpRule, MERGE, namesConfig, namesOf, oncePerName, request, withoutFinalDots } from './define-http-rule';
import { READS, type HttpUrl } from '../facts/http-facts';
import { normalizedName, wordsOf } from '../facts/private-names';

const ADMINISTRATIVE = wordList(`
  admin administrator administration sudo impersonate internal actuator debug console exec execute eval shell rpc graphql
  purge wipe destroy truncate drop erase shutdown terminate reset rotate revoke bulk batch _bulk _delete_by_query
  _update_by_query reindex migrate restore refund refunds payout payouts transfer transfers withdraw withdrawals
  wp-admin phpmyadmin superadmin backoffice cgi-bin jolokia reboot promote ban unlock charges capture deposit
  disbursements $batch composite mass-update _all _cluster * gql collaborators hooks deploy-keys
  tokens keys api-keys apikeys credentials secrets permissions roles policies memberships members invitations webhooks
`);

/**
 * Words of the last segment of a POST that say what the request does: `chat.delete`, `reset_password`, `batchDelete`. The last
 * segment of another method is often a name that someone chose, so there the whole segment must be such a word.
 */
const ACTIONS: ReadonlySet<string> = new Set(
  wordList(`
  delete deletion purge wipe destroy truncate erase anonymize shutdown terminate reboot reset revoke admin impersonate
  sudo exec execute refund payout withdraw transfer ban deactivate suspend
`),
);

/** Prefixes that name an API and not what a request does: jobs of Kubernetes, and every path of the Admin API of Shopify. */
const BATCH_GROUP = /\/apis\/batch\//;
const SHOPIFY_ADMIN = /^\/admin\/api\/\d{4}-\d\d\//;

const EXTENSION = /\.[a-z]{2,5}$/i;

function segmentsOf({ host, path }: HttpUrl): readonly string[] {
  const shortened = path.slice(0, 8192).replace(BATCH_GROUP, '/apis/');
  const named = host.endsWith('.myshopify.com') ? shortened.replace(SHOPIFY_ADMIN, '/') : shortened;
  return named.split(/[/:]/).filter((segment) => segment !== '');
}

export const administrativePath = httpRule({
  name: 'http_administrative_path',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'The path says that the request administers the service, moves money or deletes in bulk; its body says little about that.',
  config: namesConfig(
    ADMINISTRATIVE,
    'Segments of the path, separated by "/" or ":". Case, "_", "-" and an extension such as .json are ignored.',
    'Segments in addition to `names`.',
  ),
  examples: {
    bad: request({ method: 'POST', url: 'https://api.example.com/v1/admin/users:purge' }),
    good: request({ url: 'https://api.example.com/v1/articles/administrators-guide' }),
  },
  find: ({ method, url }, config) => {
    if (READS.has(method)) return [];
    const names = namesOf(config);
    const segments = segmentsOf(url);
    const last = segments.at(-1) ?? '';
    const found =
      segments.find((segment) => names.has(normalizedName(withoutFinalDots(segment).replace(EXTENSION, '')))) ??
      (saysAction(method, last) ? last : undefined);
    return found === undefined ? [] : [{ at: '/url', what: `the path contains ${shown(found.slice(0, 100))}` }];
  },
});

function saysAction(method: string, segment: string): boolean {
  const words = wordsOf(segment).filter((word) => word !== '');
  if (method === 'POST') return words.some((word) => ACTIONS.has(word));
  return words.length > 0 && words.every((word) => ACTIONS.has(word));
}

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
