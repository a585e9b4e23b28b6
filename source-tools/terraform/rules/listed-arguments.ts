import type { ProviderArgument } from '../facts/provider-arguments';
import { wordList } from '../../../policy/text/word-list';

/**
 * Arguments of providers that keep the credentials, the account behind them and the host that they connect to, that run no
 * program and that do not weaken TLS; and those that select a place for resources. `name=true`: only with this constant.
 *
 * Not listed, for example: `assume_role`, `profile`, `access_key`, `shared_config_files`, `endpoints`, `http_proxy`, `insecure` and
 * `skip_*` of AWS; `credentials`, `access_token`, `impersonate_service_account`, `universe_domain` and `*_custom_endpoint` of
 * Google; `client_id`, `use_msi`, `metadata_host` and `environment` of Azure; `host`, `exec`, `config_path` and `config_context` of
 * Kubernetes, since a kubeconfig file can run a program; `proxy` of TLS.
 */
const ARGUMENTS: Readonly<Record<string, string>> = {
  aws: `allowed_account_ids default_tags default_tags.tags forbidden_account_ids ignore_tags ignore_tags.key_prefixes
    ignore_tags.keys insecure=false max_retries region retry_mode token_bucket_rate_limiter_capacity use_dualstack_endpoint
    use_fips_endpoint`,
  azurerm: `disable_terraform_partner_id features features.api_management.purge_soft_delete_on_destroy=false
    features.api_management.recover_soft_deleted features.app_configuration.purge_soft_delete_on_destroy=false
    features.app_configuration.recover_soft_deleted features.cognitive_account.purge_soft_delete_on_destroy=false
    features.key_vault.purge_soft_delete_on_destroy=false
    features.key_vault.purge_soft_deleted_certificates_on_destroy=false
    features.key_vault.purge_soft_deleted_keys_on_destroy=false
    features.key_vault.purge_soft_deleted_secrets_on_destroy=false
    features.key_vault.recover_soft_deleted_certificates features.key_vault.recover_soft_deleted_key_vaults
    features.key_vault.recover_soft_deleted_keys features.key_vault.recover_soft_deleted_secrets
    features.log_analytics_workspace.permanently_delete_on_destroy=false
    features.managed_disk.expand_without_downtime
    features.resource_group.prevent_deletion_if_contains_resources=true
    features.virtual_machine.delete_os_disk_on_deletion=false
    features.virtual_machine.skip_shutdown_and_force_delete=false resource_provider_registrations storage_use_azuread=true
    subscription_id tenant_id`,
  google: `add_terraform_attribution_label batching.enable_batching batching.send_after default_labels project region
    request_reason request_timeout terraform_attribution_label_addition_strategy user_project_override zone`,
  kubernetes: 'ignore_annotations ignore_labels insecure=false',
};

const LISTED: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(ARGUMENTS).map(([name, words]) => [name, new Set(wordList(words))]),
);
/** Names of provider tables that share the arguments of another one. */
const SAME: Readonly<Record<string, string>> = { 'google-beta': 'google' };

/** Names of the arguments of a provider that are neither listed nor covered by `added`, such as `aws.assume_role`. */
export function unlistedArguments(
  provider: string,
  given: readonly ProviderArgument[],
  added: readonly string[],
): readonly string[] {
  const name = provider.slice(provider.lastIndexOf('/') + 1);
  const listed = LISTED.get(Object.hasOwn(SAME, name) ? (SAME[name] as string) : name);
  const isListed = ({ name: argument, value }: ProviderArgument): boolean => {
    const full = `${name}.${argument}`;
    if (added.some((one) => full === one || full.startsWith(`${one}.`))) return true;
    return listed?.has(argument) === true || listed?.has(`${argument}=${value}`) === true;
  };
  return [...new Set(given.filter((argument) => !isListed(argument)).map((argument) => argument.name))];
}
