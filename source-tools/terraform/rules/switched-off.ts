import type { JsonObject, JsonValue } from '../../../policy/contracts/canonical-json';
import { memoizeByObject } from '../../../policy/text/memoize';
import type { Hit } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import { wordList } from '../../../policy/text/word-list';
import { atResource, coversAny, planOf, terraformRule, undecided } from './define-terraform-rule';
import { isOff } from './off-values';
import type { TerraformResource } from '../facts/terraform-facts';
import {
  createdOrChanged,
  DESCRIPTIVE,
  isDestroyed,
  isUnchanged,
  itemsNotIn,
  member,
  stepsOf,
  valueAt,
  type Path,
} from './values';

/** What a rule of this file looks for: words in the names of members and globs of types. */
interface Concern {
  /** Words, separated by `_` in the name of a member at any level, that make everything below it a concern. */
  readonly words: ReadonlySet<string>;
  /** Types that exist for this purpose: each of their members is a concern, and so is their destruction. */
  readonly types: readonly string[];
  /** Words within the name of a single setting, at any level, that make it a concern. */
  readonly flags: RegExp | null;
  /** Names of members of these types that say what is recorded, and where: any change of one is found. */
  readonly routes?: RegExp;
}

function isConcern({ words }: Concern, name: string): boolean {
  return name.split(/[._-]/).some((word) => words.has(word.toLowerCase()));
}

/** Hits for what the update switches off at or below `path`. `concerned`: whether the value itself belongs to the concern. */
function switchedOff(r: TerraformResource, concern: Concern, before: JsonValue, path: Path, concerned: boolean): Hit[] {
  if (typeof before !== 'object' || before === null)
    return concerned || concern.flags?.test(nameOf(path)) === true ? scalarHit(r, concern, before, path) : [];
  if (Array.isArray(before))
    return concerned
      ? listHits(r, concern, before, path)
      : before.flatMap((item: JsonValue, i) =>
          switchedOff(
            r,
            concern,
            item,
            [...path, placeOf(r, path, item) ?? i],
            SETTINGS.test(nameOf(path)) && isSetting(concern, item),
          ),
        );
  if (valueAt(r, path).state === 'absent') return concerned ? [off(r, path, 'is removed')] : [];
  return Object.entries(before as JsonObject).flatMap(([name, value]) =>
    switchedOff(r, concern, value, [...path, name], concerned || isConcern(concern, name)),
  );
}

const SETTINGS = /parameter|flag|setting|option/;

/** Whether an item is a name with a value, as in a group of parameters, and its name makes it a concern. */
function isSetting(concern: Concern, item: JsonValue): boolean {
  const name = member(item, 'name');
  return typeof name === 'string' && member(item, 'value') !== null && isConcern(concern, name);
}

/** The index that a named item of a list has after the change; null if it has no name. The order of a set can change. */
function placeOf(r: TerraformResource, path: Path, item: JsonValue): number | null {
  const name = member(item, 'name');
  const after = valueAt(r, path);
  if (typeof name !== 'string' || after.state !== 'known' || !Array.isArray(after.value)) return null;
  return placesByName(after.value).get(name) ?? after.value.length;
}

const placesByName = memoizeByObject(
  (list: readonly JsonValue[]): ReadonlyMap<JsonValue, number> =>
    new Map(list.map((item, i) => [member(item, 'name'), i])),
);

function scalarHit(r: TerraformResource, { routes }: Concern, before: JsonValue, path: Path): Hit[] {
  const name = nameOf(path);
  const after = valueAt(r, path);
  if (after.state === 'hidden')
    return isOff(name, before) === false ? [atResource(r, undecided(shown(path.join('.')), after.why), path)] : [];
  const value = after.state === 'known' ? after.value : null;
  if (routes?.test(name) === true && value !== before) return [off(r, path, 'is changed')];
  const least = leastOf(r, name, before);
  if (least !== null)
    return (leastOf(r, name, value) ?? 0) >= least
      ? []
      : [off(r, path, `is reduced from ${shown(String(before).slice(0, 50))} to ${shown(String(value).slice(0, 50))}`)];
  return isOff(name, before) === false && isOff(name, value) === true ? [off(r, path, 'is switched off')] : [];
}

const nameOf = (path: Path): string => String(path.findLast((step) => typeof step === 'string') ?? '');

/** The number in a minimum or a retention, also within text such as `TLS1_2`; null for any other member. */
function leastOf(r: TerraformResource, name: string, value: JsonValue): number | null {
  const isRetention = /retention|(?<!automatically_after_)days$|delete_after/.test(name);
  if (!isRetention && !/^(?:min|minimum|required)_|^security_policy$/.test(name)) return null;
  const digits = /\d+(?:[._]\d+)?/.exec(typeof value === 'number' || typeof value === 'string' ? String(value) : '');
  if (digits === null) return null;
  const least = Number(digits[0].replace('_', '.'));
  // A retention of 0 keeps logs for ever; for backups it switches them off.
  return isRetention && least === 0 && r.type === 'aws_cloudwatch_log_group' ? Infinity : least;
}

function listHits(r: TerraformResource, concern: Concern, before: readonly JsonValue[], path: Path): Hit[] {
  const after = valueAt(r, path);
  if (after.state === 'hidden')
    return before.length === 0 ? [] : [atResource(r, undecided(shown(path.join('.')), after.why), path)];
  const items = after.state === 'known' && Array.isArray(after.value) ? (after.value as readonly JsonValue[]) : [];
  const lost = new Set(itemsNotIn(before, items));
  const [first] = lost;
  if (first === undefined) return [];
  if (typeof first !== 'object' || first === null)
    return [off(r, path, `no longer contains ${shown(String(first).slice(0, 100))}`)];
  return items.length < before.length
    ? [off(r, path, items.length === 0 ? 'is removed' : 'loses an entry')]
    : before.flatMap((item, i) => (lost.has(item) ? switchedOff(r, concern, item, [...path, i], true) : []));
}

const off = (r: TerraformResource, path: Path, what: string): Hit =>
  atResource(r, `${shown(path.join('.').slice(0, 200))} ${what}`, valueAt(r, path).state === 'known' ? path : []);

/** Hits for members of a new resource that are known to be off. */
function createdOff(r: TerraformResource, names: ReadonlySet<string>, path: Path, value: JsonValue): Hit[] {
  if (typeof value !== 'object' || value === null) {
    const name = nameOf(path);
    return names.has(name) && value !== null && (value === 0 || isOff(name, value) === true)
      ? [off(r, path, 'is off')]
      : [];
  }
  return stepsOf(value).flatMap((step) => createdOff(r, names, [...path, step], member(value, step)));
}

/** Exemptions and exclusions that the plan adds or changes, such as `exempted_members` of an audit configuration. */
function exempted(r: TerraformResource): Hit[] {
  if (/_(?:exclusion|suppression_rule)$/.test(r.type)) return [atResource(r, 'excludes entries')];
  const walk = (value: JsonValue, path: Path): Hit[] => {
    if (typeof value !== 'object' || value === null) return [];
    if (Array.isArray(value)) return value.flatMap((item: JsonValue, i) => walk(item, [...path, i]));
    return Object.entries(value as JsonObject).flatMap(([name, item]) =>
      /^(?:exempt|exclu|suppress|bypass)/.test(name) && isOff(name, item) === false && !isUnchanged(r, [...path, name])
        ? [atResource(r, `${shown([...path, name].join('.').slice(0, 200))} exempts entries`, [...path, name])]
        : walk(item, [...path, name]),
    );
  };
  return walk(r.after, []);
}

function findOff(
  resources: readonly TerraformResource[],
  concern: Concern,
  created: ReadonlySet<string>,
): readonly Hit[] {
  const ofType = (r: TerraformResource): boolean => coversAny(concern.types, r.type);
  const withoutRoutes: Concern = { words: concern.words, types: [], flags: concern.flags };
  const gone = resources
    .filter((r) => r.action === 'delete' && isDestroyed(r) && ofType(r))
    .map((r) => atResource(r, 'is destroyed'));
  const changed = createdOrChanged(resources).flatMap((r): readonly Hit[] => {
    const exemptions = ofType(r) ? exempted(r) : [];
    if (r.action === 'create') return [...createdOff(r, created, [], r.after), ...exemptions];
    const topLevel = Object.entries((r.before ?? {}) as JsonObject);
    const setting = isSetting(concern, r.before);
    const switched = topLevel.flatMap(([name, value]) => {
      if (DESCRIPTIVE.has(name)) return [];
      const concerned = ofType(r) || isConcern(concern, name) || (setting && name === 'value');
      return switchedOff(r, ofType(r) ? concern : withoutRoutes, value, [name], concerned);
    });
    return [...switched, ...exemptions];
  });
  return [...gone, ...changed];
}

const LOGGING: Concern = {
  words: new Set(
    wordList(
      'log logs logging logger audit audits auditing trail flowlog telemetry diagnostics guardduty detective oms pgaudit containerinsights',
    ),
  ),
  types: wordList(`
    aws_cloudtrail* aws_cloudwatch_log_* aws_cloudwatch_metric_alarm aws_cloudwatch_event_rule aws_flow_log aws_config_*
    aws_guardduty_* aws_securityhub_* aws_macie2_* aws_accessanalyzer_* aws_detective_* aws_inspector2_*
    aws_s3_bucket_logging aws_wafv2_web_acl_logging_configuration aws_route53_query_log
    aws_route53_resolver_query_log_config* aws_networkfirewall_logging_configuration google_logging_*
    google_monitoring_alert_policy google_project_iam_audit_config google_folder_iam_audit_config
    google_organization_iam_audit_config google_scc_* azurerm_monitor_* azurerm_log_analytics_* azurerm_network_watcher_*
    azurerm_security_center_* azurerm_sentinel_* azurerm_*_auditing_policy vault_audit okta_log_stream
  `),
  flags: null,
  routes: /bucket|destination|filter|traffic_type|workspace_id|storage_account_id|file_path/,
};
const LOGGING_CREATED = new Set(
  wordList('enable_logging is_multi_region_trail enable_log_file_validation include_global_service_events'),
);

const TRAIL = { name: 'main', enable_logging: true };

export const loggingOff = terraformRule({
  name: 'terraform_logging_off',
  logicRevision: 6,
  defaultLevel: 'confirm',
  why: 'Without logs and audit trails, later changes and attacks cannot be found.',
  examples: {
    bad: planOf([
      {
        address: 'aws_cloudtrail.main',
        actions: ['update'],
        before: TRAIL,
        after: { ...TRAIL, enable_logging: false },
      },
    ]),
    good: planOf([
      { address: 'aws_cloudtrail.main', actions: ['update'], before: TRAIL, after: { ...TRAIL, name: 'other' } },
    ]),
  },
  find: ({ resources }) => findOff(resources, LOGGING, LOGGING_CREATED),
});

const PROTECTION: Concern = {
  words: new Set(
    wordList(`
    encrypt encrypted encryption kms sse versioning backup backups rotation mfa tls ssl https immutability immutable
    recovery snapshot retention waf shield firewall iap imdsv2 tokens guardrail boundary lock
  `),
  ),
  types: wordList(`
    aws_wafv2_* aws_shield_* aws_s3_bucket_public_access_block aws_s3_account_public_access_block
    aws_s3_bucket_server_side_encryption_configuration aws_s3_bucket_versioning aws_s3_bucket_object_lock_configuration
    aws_ebs_encryption_by_default aws_backup_* aws_iam_account_password_policy aws_kms_key azurerm_management_lock
    azurerm_backup_* azurerm_web_application_firewall_policy google_compute_security_policy google_binary_authorization_policy
    kubernetes_network_policy* aws_organizations_policy_attachment aws_organizations_organization github_branch_protection*
    github_*_ruleset gitlab_*_protection google_compute_security_policy_rule google_iam_deny_policy google_org_policy_policy
    google_*_organization_policy google_access_context_manager_service_perimeter* azurerm_*_policy_assignment
    google_iam_workload_identity_pool_provider azuread_conditional_access_policy cloudflare_ruleset okta_policy_*
  `),
  flags:
    /public|anonymous|unauthenticated|auth(?:entication|orization)?(?:_|$)|private_(?:cluster|endpoint|nodes)|uniform_bucket|secure_boot|shielded|legacy|local_account|shared_access_key|oslogin|ssh-keys|acl_id$|security_policy|signing|scan_on_push|mutability|enforce|preview|privileged|admin_enabled|direct_internet|ipv4_enabled|ingress|protocol|threat_intelligence|role_based_access|source_dest_check|verify|vulnerability_alerts|default_action$|default_policy$|inbound_policy$|filter_enabled$|failure_policy$|evaluation_mode$/,
};
const PROTECTION_CREATED = new Set(
  wordList(`
    storage_encrypted encrypted at_rest_encryption_enabled transit_encryption_enabled https_only
    enable_https_traffic_only https_traffic_only_enabled http_tokens backup_retention_period require_ssl ssl_enforcement_enabled
  `),
);

export const protectionOff = terraformRule({
  name: 'terraform_protection_off',
  logicRevision: 6,
  defaultLevel: 'confirm',
  why: 'Encryption, backups, versions and firewalls are missed only after data is lost or stolen.',
  examples: {
    bad: planOf([
      {
        address: 'aws_db_instance.main',
        actions: ['update'],
        before: { backup_retention_period: 30 },
        after: { backup_retention_period: 1 },
      },
    ]),
    good: planOf([
      {
        address: 'aws_db_instance.main',
        actions: ['update'],
        before: { backup_retention_period: 7 },
        after: { backup_retention_period: 30 },
      },
    ]),
  },
  find: ({ resources }) => findOff(resources, PROTECTION, PROTECTION_CREATED),
});
