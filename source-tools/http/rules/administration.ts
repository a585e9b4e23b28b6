import { z } from 'zod';
import { memoizeByObject } from '../../../policy/text/memoize';
import { shown } from '../../../policy/text/shown-name';
import { wordList } from '../../../policy/text/word-list';
import { httpRule, MERGE, namesConfig, namesOf, request } from './define-http-rule';
import { READS } from '../facts/http-facts';
import { normalizedName, wordsOf } from '../facts/private-names';

const ADMINISTRATIVE = wordList(`
  admin administrator administration sudo impersonate internal actuator debug console exec execute eval shell rpc graphql
  purge wipe destroy truncate drop erase shutdown terminate reset rotate revoke bulk batch _bulk _delete_by_query
  _update_by_query reindex migrate restore refund refunds payout payouts transfer transfers withdraw withdrawals
  tokens keys api-keys apikeys credentials secrets permissions roles policies memberships members invitations webhooks
`);

export const administrativePath = httpRule({
  name: 'http_administrative_path',
  logicRevision: 1,
  defaultLevel: 'confirm',
  why: 'The path says that the request administers the service, moves money or deletes in bulk; its body says little about that.',
  config: namesConfig(
    ADMINISTRATIVE,
    'Segments of the path, separated by "/" or ":". Case, "_" and "-" are ignored.',
    'Segments in addition to `names`.',
  ),
  examples: {
    bad: request({ method: 'POST', url: 'https://api.example.com/v1/admin/users:purge' }),
    good: request({ url: 'https://api.example.com/v1/articles/administrators-guide' }),
  },
  find: ({ method, url }, config) => {
    if (READS.has(method)) return [];
    const names = namesOf(config);
    const found = url.path
      .slice(0, 8192)
      .split(/[/:]/)
      .find((segment) => names.has(normalizedName(segment)));
    return found === undefined ? [] : [{ at: '/url', what: `the path contains ${shown(found.slice(0, 100))}` }];
  },
});

const SECURITY = wordList(`
  auth authn authz authentication authorization login logins sso saml oauth oauth2 oidc scim pkce mfa 2fa totp session
  sessions waf firewall firewalls acl acls csrf cors encryption tls ssl audit retention visibility protected protection
  masked bypass enforce force trusted insecure whitelist allowlist denylist blacklist iam grant grants sudo
`);
/** Complete names, because their words are ordinary. */
const SECURITY_NAMES = new Set(wordList('private public ispublic isprivate anonymous guestaccess'));

export const securitySetting = httpRule({
  name: 'http_security_setting',
  logicRevision: 1,
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
    // The same names occur in every operation of a long patch.
    const known = new Map<string, boolean>();
    const isSetting = (name: string): boolean => {
      const before = known.get(name);
      if (before !== undefined) return before;
      const is = wordsOf(name).some((word) => words.has(word));
      known.set(name, is);
      return is;
    };
    const segment = url.path.slice(0, 8192).split(/[/:]/).find(isSetting);
    const written = members
      .filter(({ name }) => isSetting(name) || SECURITY_NAMES.has(normalizedName(name)))
      .map(({ name, at }) => ({ at, what: `writes ${shown(name.slice(0, 100))}` }));
    return segment === undefined
      ? written
      : [{ at: '/url', what: `the path contains ${shown(segment.slice(0, 100))}` }, ...written];
  },
});

const wordSet = memoizeByObject(
  ({ words }: { readonly words: readonly string[] }): ReadonlySet<string> => new Set(words),
);
