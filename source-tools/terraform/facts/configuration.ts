import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { pointerOf } from '../../../policy/text/json-pointer';
import type { TerraformPlanFacts } from './terraform-facts';
import { refuse } from '../../../policy/text/refusal';

type Configuration = Pick<TerraformPlanFacts, 'provisioners' | 'dataSources' | 'modules' | 'providers'>;

/** What the configuration says about resources, by address without `count` and `for_each` keys. */
export interface ConfiguredResources {
  /** The members that it sets. */
  readonly members: ReadonlyMap<string, ReadonlySet<string>>;
  /** Firewall groups to which a resource with one rule refers. */
  readonly groupsOfRules: ReadonlySet<string>;
}

const MAX_MODULE_DEPTH = 16;
/** Maximum length of a module name, because it is repeated in the address of everything below the module. */
const MAX_NAME = 250;
const MAX_PARTS = 20_000;

/** Reads provisioners, data sources, modules and providers of the configuration, including all called modules. */
export function readConfiguration(value: JsonValue | undefined): {
  readonly parts: Configuration;
  readonly configured: ConfiguredResources;
} {
  const reader = new ConfigurationReader();
  if (isJsonObject(value)) reader.read(value);
  return { parts: reader.found, configured: reader.configured };
}

class ConfigurationReader {
  readonly found: { -readonly [K in keyof Configuration]: Configuration[K][number][] } = {
    provisioners: [],
    dataSources: [],
    modules: [],
    providers: [],
  };
  readonly configured = { members: new Map<string, ReadonlySet<string>>(), groupsOfRules: new Set<string>() };
  #parts = 0;

  read(configuration: JsonObject): void {
    for (const [name, provider] of entries(configuration['provider_config'])) {
      this.#count();
      this.found.providers.push({
        at: pointerOf(['configuration', 'provider_config', name]),
        name: text(provider['full_name']) ?? text(provider['name']) ?? name,
        version: text(provider['version_constraint']),
      });
    }
    const root = configuration['root_module'];
    if (isJsonObject(root)) this.#module(root, ['configuration', 'root_module'], '', 0);
  }

  /** `address`: what precedes the address of everything in the module. */
  #module(module: JsonObject, path: readonly string[], address: string, depth: number): void {
    if (depth > MAX_MODULE_DEPTH)
      refuse('too_deep', `Module calls are nested more than ${MAX_MODULE_DEPTH} levels deep`, null);
    for (const [i, resource] of items(module['resources']).entries()) {
      this.#count();
      if (isJsonObject(resource)) this.#resource(resource, [...path, 'resources', String(i)], address);
    }
    for (const [name, call] of entries(module['module_calls'])) {
      this.#count();
      if (name.length > MAX_NAME)
        refuse('invalid_document', `A module name is longer than ${MAX_NAME} characters`, null);
      const at = [...path, 'module_calls', name];
      this.found.modules.push({
        at: pointerOf(at),
        name: `${address}module.${name}`,
        source: text(call['source']) ?? '',
        version: text(call['version_constraint']),
      });
      const below = call['module'];
      if (isJsonObject(below)) this.#module(below, [...at, 'module'], `${address}module.${name}.`, depth + 1);
    }
  }

  #resource(resource: JsonObject, at: readonly string[], address: string): void {
    const name = `${address}${text(resource['address']) ?? ''}`;
    const type = text(resource['type']) ?? '';
    const expressions = resource['expressions'];
    if (isJsonObject(expressions)) {
      this.configured.members.set(name, new Set(Object.keys(expressions)));
      for (const group of groupsOf(type, expressions)) this.configured.groupsOfRules.add(`${address}${group}`);
    }
    if (resource['mode'] !== 'managed') this.found.dataSources.push({ at: pointerOf(at), address: name, type });
    for (const [i, provisioner] of items(resource['provisioners']).entries()) {
      this.#count();
      this.found.provisioners.push({
        at: pointerOf([...at, 'provisioners', String(i)]),
        address: name,
        type: (isJsonObject(provisioner) ? text(provisioner['type']) : null) ?? 'unknown',
      });
    }
  }

  #count(): void {
    if (++this.#parts > MAX_PARTS)
      refuse('too_many_resources', `The configuration has more than ${MAX_PARTS} parts`, null);
  }
}

/** Types of one firewall rule, and the member that names its group. */
export const RULE_TYPES: Readonly<Record<string, string>> = {
  aws_security_group_rule: 'security_group_id',
  aws_vpc_security_group_ingress_rule: 'security_group_id',
  aws_vpc_security_group_egress_rule: 'security_group_id',
  azurerm_network_security_rule: 'network_security_group_name',
};

/** Addresses, in the module of the rule, of the resources to which the group member of a rule refers. */
function groupsOf(type: string, expressions: JsonObject): string[] {
  const member = Object.hasOwn(RULE_TYPES, type) ? RULE_TYPES[type] : undefined;
  const expression = member === undefined ? undefined : expressions[member];
  return items(isJsonObject(expression) ? expression['references'] : undefined).flatMap((reference) => {
    const [group, name] = typeof reference === 'string' ? withoutKeys(reference).split('.') : [];
    return group === undefined || name === undefined ? [] : [`${group}.${name}`];
  });
}

/** The address of a resource in the configuration: `module.a.aws_s3_bucket.b` for `module.a["x.y"].aws_s3_bucket.b[0]`. */
export function withoutKeys(address: string): string {
  let plain = '';
  let quoted = false;
  let inKey = false;
  for (let i = 0; i < address.length; i++) {
    const letter = address[i] as string;
    if (inKey && letter === '\\') i++;
    else if (inKey && letter === '"') quoted = !quoted;
    else if (!quoted && (letter === '[' || letter === ']')) inKey = letter === '[';
    else if (!inKey) plain += letter;
  }
  return plain;
}

function entries(value: JsonValue | undefined): [string, JsonObject][] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    isJsonObject(item) ? [[name, item] as [string, JsonObject]] : [],
  );
}

function items(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

function text(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
