import { wordList } from '../../../../policy/text/word-list';
import { AWS } from './aws';
import { AZURERM } from './azurerm';
import { listedType, type ListedType, type ProviderTable } from './entries';
import { GOOGLE } from './google';
import { KUBERNETES } from './kubernetes';
import { SMALL } from './small';

export const PROVIDER_TABLES: readonly ProviderTable[] = [AWS, AZURERM, GOOGLE, KUBERNETES, ...SMALL];

/**
 * The public registries, which Terraform and OpenTofu ask if a configuration names no host, with the namespace of HashiCorp:
 * https://developer.hashicorp.com/terraform/language/providers/requirements#source-addresses and
 * https://opentofu.org/docs/language/providers/requirements/#source-addresses.
 *
 * A short name such as `aws`, or the address `registry.terraform.io/-/aws`, as Terraform up to 0.13 writes them, is not listed:
 * it does not say which provider is installed.
 */
const REGISTRIES = ['registry.terraform.io/hashicorp/', 'registry.opentofu.org/hashicorp/'];

const BUILT_IN = 'terraform.io/builtin/terraform';
const BUILT_IN_TABLE: ProviderTable = {
  names: [],
  common: 'id',
  types: { terraform_data: 'input output triggers_replace' },
  data: '',
};

export interface ListedProvider {
  readonly types: ReadonlyMap<string, ListedType>;
}

/** The listed providers by their addresses. */
export const LISTED_PROVIDERS: ReadonlyMap<string, ListedProvider> = new Map([
  [BUILT_IN, readTable(BUILT_IN_TABLE)],
  ...PROVIDER_TABLES.flatMap((table) => {
    const provider = readTable(table);
    return REGISTRIES.flatMap((registry) => table.names.map((name) => [`${registry}${name}`, provider] as const));
  }),
]);

/** Types of data sources and ephemeral resources that only read or compute something. */
export const LISTED_DATA: ReadonlySet<string> = new Set(
  PROVIDER_TABLES.flatMap(({ data }) => (data === '' ? [] : wordList(data))),
);

function readTable({ common, types }: ProviderTable): ListedProvider {
  return {
    types: new Map(Object.entries(types).map(([type, words]) => [type, listedType(`${common} ${words}`)])),
  };
}
