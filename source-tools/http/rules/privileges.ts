import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import { wordList } from '../../../policy/text/word-list';
import { httpRule, MERGE, namesConfig, namesOf, oncePerName, request } from './define-http-rule';
import { normalizedName, readingsOfName, wordsOf } from '../facts/private-names';

const PRIVILEGE = wordList(`
  role roles role_id role_ids role_name role_names role_ref is_admin admin administrator authorities is_staff
  is_superuser superuser is_root is_moderator is_owner owner owner_id permission permissions permission_level privileges
  scopes grants acl access_level entitlements privileged allow_privilege_escalation host_network host_pid host_ipc
  host_path run_as_user service_account_name groups group_ids member_of user_type tenant_id org_id
  organization_id verified email_verified mfa_enabled two_factor_enabled password password_hash price unit_price amount
  total balance credit credit_limit discount salary refund iban bank_account account_number routing_number
  payout_account limit limits quota quotas spending_limit daily_limit rate_limit webhook webhook_url callback_url
  redirect_uri redirect_uris allowed_origins ip_allowlist
`);

/** The unit of an amount in its name, such as `amountCents`. */
const MONEY_UNIT = /(?:in)?(?:cents?|minor|micros|usd|eur|gbp|chf|percent)$/;

/** Words before the name of a privileged member that only say whose or which it is: `isSuperAdmin`, `user_role`. */
const WHOSE: ReadonlySet<string> = new Set(
  wordList('is has user account member super global org organization team site system default new current assigned'),
);

/** The name as `normalizedName`, also without the words before it and the unit after it. */
function readingsOfPrivilege(name: string): readonly string[] {
  const words = wordsOf(name);
  const first = words.findIndex((word) => !WHOSE.has(word));
  const whole = normalizedName(name);
  const core = first === -1 ? whole : words.slice(first).join('');
  return [whole, whole.replace(MONEY_UNIT, ''), core, core.replace(MONEY_UNIT, '')];
}

/** The bounds of CPU and memory of a container in Kubernetes, which are no limits of an account. */
const CONTAINER_LIMITS = /containers\/\d+\/resources\/limits$/i;

/** Paths where `limit` is the number of results of a POST. */
const SEARCH = /\/_?search$/i;

export const privilegeFields = httpRule({
  name: 'http_privilege_fields',
  logicRevision: 7,
  defaultLevel: 'confirm',
  why: 'An API may let a client write roles, permissions, prices and the addresses that it calls like any other member.',
  config: namesConfig(
    PRIVILEGE,
    'Names of privileged members. Case, "_", "-" and words before a name such as "user" or "is" are ignored.',
    'Names in addition to `names`.',
  ),
  examples: {
    bad: '{"method": "PATCH", "url": "https://api.example.com/v1/users/7", "contentType": "application/merge-patch+json",\n "body": {"profile": {"is\\u0041dmin": true}}}',
    good: request({ contentType: MERGE, body: { profile: { note: 'is_admin' } } }),
  },
  find: ({ method, url, members, transfers }, config) => {
    const guarded = namesOf(config);
    const isGuarded = oncePerName((name) =>
      readingsOfName(name).some((part) => readingsOfPrivilege(part).some((reading) => guarded.has(reading))),
    );
    const pages = method === 'POST' && SEARCH.test(url.path);
    const isPageSize = (pointer: string): boolean => pages && pointer === '/limit';
    const written = members
      .filter(({ name, pointer }) => isGuarded(name) && !CONTAINER_LIMITS.test(pointer) && !isPageSize(pointer))
      .map(({ name, at }) => ({ at, what: `writes ${shown(name.slice(0, 100))}` }));
    const transferred = transfers.flatMap(({ how, from, below, complete, at }): readonly Hit[] => {
      const verb = how === 'copy' ? 'copies' : 'moves';
      if (!complete) return [{ at, what: `${verb} more members than can be listed` }];
      const name = [...from, ...below].find(isGuarded);
      return name === undefined ? [] : [{ at, what: `${verb} ${shown(name.slice(0, 100))}` }];
    });
    return [...written, ...transferred];
  },
});
