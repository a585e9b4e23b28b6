import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { ExtractedFacts } from '../../../policy/contracts/facts';

/** What happens to a resource, as Terraform's sequence of actions says it; `replace` in either order. */
export type TerraformAction = 'no-op' | 'read' | 'create' | 'update' | 'delete' | 'replace' | 'forget';

/** One entry of `resource_changes` or `resource_drift`. What the plan marks as sensitive stands in no value: only the masks tell. */
export interface TerraformResource {
  readonly at: string;
  readonly address: string;
  readonly mode: 'managed' | 'data';
  readonly type: string;
  readonly provider: string;
  readonly action: TerraformAction;
  /** For replace: whether the old one goes first. */
  readonly destroyFirst: boolean;
  readonly actionReason: string | null;
  readonly previousAddress: string | null;
  readonly importing: boolean;
  readonly deposed: boolean;
  readonly before: JsonValue;
  readonly after: JsonValue;
  /** `true` where the value beside it is not known, or hidden; of the shape of the value. */
  readonly unknown: JsonValue;
  /**
   * Of a new resource: unknown members that its configuration does not set, so that the provider fills in its default. A
   * block that `dynamic` makes is not set either, as Terraform writes it: this tells only of members that are no blocks.
   */
  readonly leftToProvider: readonly string[];
  readonly beforeSensitive: JsonValue;
  readonly afterSensitive: JsonValue;
}

export interface TerraformOutput {
  readonly at: string;
  readonly name: string;
  readonly wasSensitive: boolean;
  readonly isSensitive: boolean;
  readonly changes: boolean;
}

export interface TerraformModule {
  readonly at: string;
  readonly name: string;
  readonly source: string;
  readonly version: string | null;
}

export interface TerraformProvider {
  readonly at: string;
  readonly name: string;
  readonly version: string | null;
}

export interface TerraformPlanFacts extends ExtractedFacts {
  readonly kind: 'terraform-plan';
  readonly formatVersion: string;
  /** Null where the plan does not say: older ones do not. */
  readonly errored: boolean | null;
  readonly complete: boolean | null;
  readonly applyable: boolean | null;
  readonly inexactNumber: boolean;
  readonly resources: readonly TerraformResource[];
  readonly drift: readonly TerraformResource[];
  readonly outputs: readonly TerraformOutput[];
  readonly provisioners: readonly { readonly at: string; readonly address: string; readonly type: string }[];
  /** Data sources of the configuration, also those that the plan has read already. */
  readonly dataSources: readonly { readonly at: string; readonly address: string; readonly type: string }[];
  readonly modules: readonly TerraformModule[];
  readonly providers: readonly TerraformProvider[];
  /** Checks and conditions that failed. */
  readonly failedChecks: readonly { readonly at: string; readonly address: string }[];
  readonly touched: readonly { readonly kind: 'path'; readonly schema: null; readonly name: string }[];
}
