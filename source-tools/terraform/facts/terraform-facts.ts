import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { ExtractedFacts } from '../../../policy/contracts/facts';
import type { FactsMembers } from '../../../policy/contracts/source-tool';
import type { ProviderArgument } from './provider-arguments';

/** What happens to a resource, from Terraform's sequence of actions; `replace` covers both orders. */
export type TerraformAction = 'no-op' | 'read' | 'create' | 'update' | 'delete' | 'replace' | 'forget';

/** One entry of `resource_changes` or `resource_drift`. Sensitive values are removed; the masks show where they were. */
export interface TerraformResource {
  readonly at: string;
  readonly address: string;
  /** A resource that apply changes is `managed`, whatever the plan says: most rules do not look at data sources. */
  readonly mode: 'managed' | 'data';
  readonly type: string;
  readonly provider: string;
  readonly action: TerraformAction;
  /** For `replace`: whether the old resource is destroyed first. */
  readonly destroyFirst: boolean;
  readonly actionReason: string | null;
  readonly previousAddress: string | null;
  readonly importing: boolean;
  readonly deposed: boolean;
  readonly before: JsonValue;
  readonly after: JsonValue;
  /** `true` at locations whose value is unknown; has the shape of the value. */
  readonly unknown: JsonValue;
  /**
   * For a new resource: unknown members that its configuration does not set, so that the provider uses its default. A member of
   * a block is named with dots. Terraform also lists a block that `dynamic` generates as not set, so use this only for members
   * that are not blocks.
   */
  readonly leftToProvider: readonly string[];
  /** Unknown members that the configuration sets, and the kinds of references in them; see `References`. */
  readonly sources: readonly { readonly name: string; readonly kinds: readonly string[] }[];
  /** Arguments that the configuration sets and of which a plan shows no value; see `writeOnlyArguments`. */
  readonly writeOnly: readonly string[];
  /** Whether the configuration of the plan contains the resource. */
  readonly configured: boolean;
  /** For a new firewall group: whether its rules are separate resources, so that an unknown block of rules is empty. */
  readonly separateRules: boolean;
  readonly beforeSensitive: JsonValue;
  readonly afterSensitive: JsonValue;
  /** `true` at sensitive locations whose value the change sets; has the shape of the value. */
  readonly sensitiveChanges: JsonValue;
}

/** Whether apply changes the resource or the state of it. */
export function isChanged({ action }: Pick<TerraformResource, 'action'>): boolean {
  return action !== 'no-op' && action !== 'read';
}

export interface TerraformOutput {
  readonly at: string;
  readonly name: string;
  readonly wasSensitive: boolean;
  readonly isSensitive: boolean;
  readonly changes: boolean;
  readonly isRemoved: boolean;
  /** What the configuration of the output refers to; see `References`. */
  readonly kinds: readonly string[];
}

interface TerraformModule {
  readonly at: string;
  readonly name: string;
  readonly source: string;
  readonly version: string | null;
}

interface TerraformProvider {
  readonly at: string;
  readonly name: string;
  readonly version: string | null;
  readonly arguments: readonly ProviderArgument[];
  /** What the tags or labels of all its resources refer to; see `References`. */
  readonly tagKinds: readonly string[];
}

export interface TerraformPlanFacts extends ExtractedFacts {
  readonly kind: 'terraform-plan';
  readonly formatVersion: string;
  /** Null if the plan does not contain the flag, as in older formats. */
  readonly errored: boolean | null;
  readonly complete: boolean | null;
  readonly applyable: boolean | null;
  readonly inexactNumber: boolean;
  /** Members of the plan and of its changes that are not known, such as `action_invocations`: apply may do more than the rest shows. */
  readonly unread: readonly string[];
  readonly resources: readonly TerraformResource[];
  readonly drift: readonly TerraformResource[];
  readonly outputs: readonly TerraformOutput[];
  readonly provisioners: readonly { readonly at: string; readonly address: string; readonly type: string }[];
  /** Data sources and ephemeral resources of the configuration, including those already read during planning. */
  readonly dataSources: readonly { readonly at: string; readonly address: string; readonly type: string }[];
  readonly modules: readonly TerraformModule[];
  readonly providers: readonly TerraformProvider[];
  /** Checks and conditions that failed. */
  readonly failedChecks: readonly { readonly at: string; readonly address: string }[];
  readonly touched: readonly { readonly kind: 'path'; readonly schema: null; readonly name: string }[];
}

/** The names of its members, which conditions may read. */
export const TERRAFORM_FACTS: FactsMembers<TerraformPlanFacts> = {
  formatVersion: true,
  errored: true,
  complete: true,
  applyable: true,
  inexactNumber: true,
  unread: true,
  resources: true,
  drift: true,
  outputs: true,
  provisioners: true,
  dataSources: true,
  modules: true,
  providers: true,
  failedChecks: true,
  touched: true,
};
