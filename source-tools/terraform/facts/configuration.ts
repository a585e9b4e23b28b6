import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { pointerOf } from '../../../policy/text/json-pointer';
import type { TerraformPlanFacts } from './terraform-facts';
import { refuse } from '../../../policy/text/refusal';
import { withoutKeys } from './addresses';
import { refuseOtherType } from './never-written';
import { providerArguments } from './provider-arguments';
import { References, SENSITIVE_VARIABLE, UNTRACED, type Scope } from './references';

type Configuration = Pick<TerraformPlanFacts, 'provisioners' | 'dataSources' | 'modules' | 'providers'>;

/** What the configuration says about resources, by address without `count` and `for_each` keys. */
export interface ConfiguredResources {
  /** The members that it sets, with their expressions. */
  readonly expressions: ReadonlyMap<string, JsonObject>;
  /** Firewall groups to which a resource with one rule refers. */
  readonly groupsOfRules: ReadonlySet<string>;
  /** What the value of a member, or of an output of the root module, refers to; see `References`. */
  readonly memberKinds: (address: string, name: string) => readonly string[];
  readonly outputKinds: (name: string) => readonly string[];
}

const MAX_MODULE_DEPTH = 16;
/** Maximum length of the address of a module, because it is repeated in the address of everything below the module. */
const MAX_ADDRESS = 1000;
const MAX_PARTS = 20_000;

/** Reads provisioners, data sources, modules and providers of the configuration, including all called modules. */
export function readConfiguration(configuration: JsonObject): {
  readonly parts: Configuration;
  readonly configured: ConfiguredResources;
} {
  const reader = new ConfigurationReader();
  reader.read(configuration);
  return { parts: reader.found, configured: reader.configured };
}

class ConfigurationReader {
  readonly found: { -readonly [K in keyof Configuration]: Configuration[K][number][] } = {
    provisioners: [],
    dataSources: [],
    modules: [],
    providers: [],
  };
  readonly configured = {
    expressions: new Map<string, JsonObject>(),
    groupsOfRules: new Set<string>(),
    memberKinds: (address: string, name: string): readonly string[] => this.#memberKinds(address, name),
    outputKinds: (name: string): readonly string[] => this.#outputKinds(name),
  };
  readonly #references = new References();
  readonly #owners = new Map<string, { readonly resource: JsonObject; readonly scope: Scope }>();
  /** By what precedes the address of everything in the module. */
  readonly #scopes = new Map<string, Scope>();
  #parts = 0;

  read(configuration: JsonObject): void {
    const root = configuration['root_module'];
    if (isJsonObject(root))
      this.#module({ module: root, parent: null, call: null }, ['configuration', 'root_module'], '', 0);
    for (const [name, provider] of entries(configuration, 'provider_config')) this.#provider(name, provider);
  }

  #provider(name: string, provider: JsonObject): void {
    this.#count();
    const module = text(provider['module_address']);
    const scope = this.#scopes.get(module === null ? '' : `${withoutKeys(module)}.`);
    if (scope === undefined)
      return refuse('invalid_document', 'A provider is of a module that the configuration does not contain', null);
    const given = provider['expressions'];
    const tags = isJsonObject(given) ? [given['default_tags'] ?? null, given['default_labels'] ?? null] : [];
    this.found.providers.push({
      at: pointerOf(['configuration', 'provider_config', name]),
      name: text(provider['full_name']) ?? text(provider['name']) ?? name,
      version: text(provider['version_constraint']),
      arguments: providerArguments(given),
      tagKinds: [...this.#references.kindsOf(tags, scope, null)],
    });
  }

  #memberKinds(address: string, name: string): readonly string[] {
    const owner = this.#owners.get(address);
    if (owner === undefined) return [];
    const expression = this.configured.expressions.get(address)?.[name];
    return [...this.#references.kindsOf(expression, owner.scope, owner.resource)];
  }

  #outputKinds(name: string): readonly string[] {
    const root = this.#scopes.get('');
    const outputs = root?.module['outputs'];
    const output = isJsonObject(outputs) && Object.hasOwn(outputs, name) ? outputs[name] : undefined;
    if (root === undefined || !isJsonObject(output)) return [];
    const kinds = [...this.#references.kindsOf(output['expression'], root, null)];
    // A plan does not define local values, so each can be any sensitive variable.
    return kinds.includes(UNTRACED) && this.#hasSensitiveVariables() ? [...kinds, SENSITIVE_VARIABLE] : kinds;
  }

  #hasSensitiveVariables(): boolean {
    return [...this.#scopes.values()].some(({ module }) => {
      return entries(module, 'variables').some(([, variable]) => variable['sensitive'] === true);
    });
  }

  /** `address`: what precedes the address of everything in the module. */
  #module(scope: Scope, path: readonly string[], address: string, depth: number): void {
    if (depth > MAX_MODULE_DEPTH)
      refuse('too_deep', `Module calls are nested more than ${MAX_MODULE_DEPTH} levels deep`, null);
    this.#scopes.set(address, scope);
    const { module } = scope;
    for (const [i, resource] of items(module, 'resources').entries()) {
      this.#count();
      this.#resource(resource, [...path, 'resources', String(i)], address, scope);
    }
    for (const [name, call] of entries(module, 'module_calls')) {
      this.#count();
      if (address.length + name.length > MAX_ADDRESS)
        refuse('invalid_document', `The address of a module is longer than ${MAX_ADDRESS} characters`, null);
      const at = [...path, 'module_calls', name];
      this.found.modules.push({
        at: pointerOf(at),
        name: `${address}module.${name}`,
        source: text(call['source']) ?? '',
        version: text(call['version_constraint']),
      });
      const below = call['module'] ?? {};
      if (!isJsonObject(below))
        return refuse('invalid_document', 'Expected the "module" of a call to be an object', null);
      const inner = this.#references.scopeBelow(scope, call, below);
      this.#module(inner, [...at, 'module'], `${address}module.${name}.`, depth + 1);
    }
  }

  #resource(resource: JsonObject, at: readonly string[], address: string, scope: Scope): void {
    const own = text(resource['address']) ?? '';
    const name = `${address}${own}`;
    const type = text(resource['type']) ?? '';
    // Terraform names a managed resource `type.name`, and others `data.type.name` or `ephemeral.type.name`.
    if (resource['mode'] === 'managed' && own.split('.').length !== 2)
      refuse('invalid_document', 'Expected a type and a name in the "address" of a managed resource', null);
    if (type !== '') refuseOtherType(own, type);
    // Terraform omits the member for a resource without arguments.
    const expressions = resource['expressions'] ?? {};
    if (isJsonObject(expressions)) {
      if (this.#owners.has(name))
        refuse('invalid_document', 'The configuration has two resources of one address', null);
      this.configured.expressions.set(name, expressions);
      this.#owners.set(name, { resource, scope });
      for (const group of groupsOf(type, expressions)) this.configured.groupsOfRules.add(`${address}${group}`);
    }
    if (resource['mode'] !== 'managed') this.found.dataSources.push({ at: pointerOf(at), address: name, type });
    for (const [i, provisioner] of items(resource, 'provisioners').entries()) {
      this.#count();
      this.found.provisioners.push({
        at: pointerOf([...at, 'provisioners', String(i)]),
        address: name,
        type: text(provisioner['type']) ?? 'unknown',
      });
    }
  }

  #count(): void {
    if (++this.#parts > MAX_PARTS)
      refuse('too_many_resources', `The configuration has more than ${MAX_PARTS} parts`, null);
  }
}

/** Types of one firewall rule, and the member that names its group. */
const RULE_TYPES: Readonly<Record<string, string>> = {
  aws_security_group_rule: 'security_group_id',
  aws_vpc_security_group_ingress_rule: 'security_group_id',
  aws_vpc_security_group_egress_rule: 'security_group_id',
  azurerm_network_security_rule: 'network_security_group_name',
};

/** Addresses, in the module of the rule, of the resources to which the group member of a rule refers. */
function groupsOf(type: string, expressions: JsonObject): string[] {
  const member = Object.hasOwn(RULE_TYPES, type) ? RULE_TYPES[type] : undefined;
  const expression = member === undefined ? undefined : expressions[member];
  const references = isJsonObject(expression) ? expression['references'] : undefined;
  return (Array.isArray(references) ? (references as readonly JsonValue[]) : []).flatMap((reference) => {
    const [group, name] = typeof reference === 'string' ? withoutKeys(reference).split('.') : [];
    return group === undefined || name === undefined ? [] : [`${group}.${name}`];
  });
}

/** The members of an object that has only objects; empty if it is missing. */
function entries(parent: JsonObject, name: string): [string, JsonObject][] {
  const value = parent[name] ?? {};
  if (!isJsonObject(value)) return refuse('invalid_document', `Expected "${name}" to be an object`, null);
  return Object.entries(value).map(([key, item]) => [key, objectIn(name, item)]);
}

/** The items of a list that has only objects; empty if it is missing. */
function items(parent: JsonObject, name: string): JsonObject[] {
  const value = parent[name] ?? [];
  if (!Array.isArray(value)) return refuse('invalid_document', `Expected "${name}" to be an array`, null);
  return value.map((item: JsonValue) => objectIn(name, item));
}

function objectIn(name: string, item: JsonValue): JsonObject {
  return isJsonObject(item) ? item : refuse('invalid_document', `Expected only objects in "${name}"`, null);
}

function text(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
