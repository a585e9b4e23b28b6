import type { JsonObject, JsonValue } from '../../../policy/contracts/canonical-json';
import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import { wordList } from '../../../policy/text/word-list';
import { atResource, coversAny, planOf, terraformRule } from './define-terraform-rule';
import { isOff } from './off-values';
import type { TerraformResource } from '../facts/terraform-facts';
import { below, createdOff, isConcern, isSetting, rootOf, switchedOff, type Concern } from './switched-off-values';
import { createdOrChanged, DESCRIPTIVE, isDestroyed, isUnchanged, type Path } from './values';

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
    if (r.action === 'create') return [...createdOff(rootOf(r), created), ...exemptions];
    const topLevel = Object.entries((r.before ?? {}) as JsonObject);
    const setting = isSetting(concern, r.before);
    const hits: Hit[] = [];
    const search = { concern: ofType(r) ? concern : withoutRoutes, hits };
    for (const [name, value] of topLevel) {
      if (DESCRIPTIVE.has(name)) continue;
      const concerned = ofType(r) || isConcern(concern, name) || (setting && name === 'value');
      switchedOff(below(rootOf(r), name), search, value, concerned);
    }
    return [...hits, ...exemptions];
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
