import { isJsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import { memoizeByObject } from '../../../policy/text/memoize';
import { wordList } from '../../../policy/text/word-list';
import { SENSITIVE_VARIABLE, UNFOLLOWED, UNTRACED } from '../facts/references';
import { LISTED_DATA, LISTED_PROVIDERS } from './listed';
import { containsTrue } from '../facts/masks';
import type { TerraformPlanFacts, TerraformResource } from '../facts/terraform-facts';
import { coversAny, listOf } from './define-terraform-rule';

/** Types whose attributes are secrets, or files of the machine that applies the plan. */
const SECRET_TYPES: ReadonlySet<string> = new Set(
  wordList(`
    aws_ecr_authorization_token aws_eks_cluster_auth aws_iam_access_key aws_kms_secrets aws_secretsmanager_random_password
    aws_secretsmanager_secret_version aws_secretsmanager_secret_versions aws_ssm_parameter aws_ssm_parameters_by_path
    azurerm_key_vault_certificate_data azurerm_key_vault_secret azurerm_key_vault_secrets azurerm_storage_account_sas
    google_kms_secret google_secret_manager_secret_version google_secret_manager_secret_version_access
    google_service_account_access_token google_service_account_id_token google_service_account_key
    google_storage_bucket_object_content kubernetes_secret kubernetes_secret_v1 kubernetes_token_request
    kubernetes_token_request_v1 local_file local_sensitive_file random_bytes random_password
  `),
);
const SECRET_NAME =
  /(?:^|_)(?:password|passphrase|secret|token|private_key|private_key_pem|private_key_openssh|private_key_pem_pkcs8|access_key|shared_key|client_key|connection_string|credentials?|api_key|auth_key|instrumentation_key|primary_key|primary_master_key|secondary_key|secondary_master_key|kube_?config|kube_config_raw|kube_admin_config|kube_admin_config_raw|secret_string|secret_binary|secret_data)$/;

/** Data sources with attributes that are secrets. Of managed resources, the plan shows which attributes are sensitive. */
const DATA_WITH_SECRETS: ReadonlySet<string> = new Set(
  wordList(`
    azurerm_application_insights azurerm_container_registry azurerm_kubernetes_cluster azurerm_log_analytics_workspace
    azurerm_storage_account google_client_config google_container_cluster google_sql_database_instance tls_public_key
  `),
);

const typesWithSecrets = memoizeByObject(
  (resources: readonly TerraformResource[]): ReadonlySet<string> =>
    new Set(
      resources
        .filter(({ beforeSensitive, afterSensitive }) => [beforeSensitive, afterSensitive].some(containsTrue))
        .map(({ type }) => type),
    ),
);

/** Whether a kind of reference, see `References`, is or may be a secret or a file. */
function isSecret(kind: string, resources: readonly TerraformResource[]): boolean {
  if (kind === SENSITIVE_VARIABLE || kind === UNFOLLOWED || kind.startsWith('ephemeral.')) return true;
  const [type = '', ...names] = withoutMode(kind).split('.');
  if (SECRET_TYPES.has(type) || names.some((name) => SECRET_NAME.test(name))) return true;
  if (names.length > 0) return false;
  return kind.startsWith('data.') ? DATA_WITH_SECRETS.has(type) : typesWithSecrets(resources).has(type);
}

/** Whether a kind of reference is not a secret, and is of a type that is listed here or by `types`. */
export function isListedSource(
  kind: string,
  types: readonly string[],
  resources: readonly TerraformResource[],
): boolean {
  if (kind === UNTRACED || isSecret(kind, resources)) return false;
  const [type = ''] = withoutMode(kind).split('.');
  if (coversAny(types, type)) return true;
  return kind.startsWith('data.') ? LISTED_DATA.has(type) : LISTED_TYPES.has(type);
}

const LISTED_TYPES: ReadonlySet<string> = new Set(
  [...LISTED_PROVIDERS.values()].flatMap(({ types }) => [...types.keys()]),
);

function withoutMode(kind: string): string {
  return kind.replace(/^(?:data|ephemeral)\./, '');
}

/** Members with sensitive values that the change sets, other than values that the provider computes. */
export function sensitiveMembers({ sensitiveChanges, unknown, sources }: TerraformResource): readonly string[] {
  if (!isJsonObject(sensitiveChanges)) return [];
  const isComputed = (name: string): boolean =>
    isJsonObject(unknown) && unknown[name] === true && !sources.some((source) => source.name === name);
  return Object.keys(sensitiveChanges).filter(
    (name) => containsTrue(sensitiveChanges[name] as JsonValue) && !isComputed(name),
  );
}

/** Hits for outputs that show secrets: `nonsensitive` removes the mark that Terraform would otherwise require. */
export function exposedOutputs({ outputs, resources, dataSources }: TerraformPlanFacts): readonly Hit[] {
  const hasSecrets =
    typesWithSecrets(resources).size > 0 ||
    [...resources, ...dataSources].some(({ type }) => SECRET_TYPES.has(type) || DATA_WITH_SECRETS.has(type));
  return outputs.flatMap(({ at, name, isRemoved, changes, isSensitive, kinds }): readonly Hit[] => {
    if (!changes || isRemoved || isSensitive) return [];
    // A plan does not define local values, so each can be any secret of the plan.
    const secret = kinds.filter((kind) => (kind === UNTRACED ? hasSecrets : isSecret(kind, resources)));
    const output = `the output ${shown(name.slice(0, 200))}`;
    if (secret.length > 0) return [{ at, what: `${output} is not sensitive, and refers to ${listOf(secret)}` }];
    return SECRET_NAME.test(name) ? [{ at, what: `${output} is named as a secret, and is not sensitive` }] : [];
  });
}

/** Hits for providers that write secrets to the tags or labels of all their resources. */
export function taggedSecrets({ providers, resources }: TerraformPlanFacts): readonly Hit[] {
  return providers.flatMap(({ at, name, tagKinds }): readonly Hit[] => {
    const secret = tagKinds.filter((kind) => isSecret(kind, resources));
    if (secret.length === 0) return [];
    return [{ at, what: `the tags or labels of ${shown(name.slice(0, 200))} refer to ${listOf(secret)}` }];
  });
}
