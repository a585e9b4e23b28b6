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
  const found: { -readonly [K in keyof Configuration]: Configuration[K][number][] } = {
    provisioners: [],
    dataSources: [],
    modules: [],
    providers: [],
  };
  const members = new Map<string, ReadonlySet<string>>();
  const groupsOfRules = new Set<string>();
  const configured = { members, groupsOfRules };
  if (!isJsonObject(value)) return { parts: found, configured };
  const base = ['configuration'];
  let parts = 0;
  const count = (): void => {
    if (++parts > MAX_PARTS) refuse('too_many_resources', `The configuration has more than ${MAX_PARTS} parts`, null);
  };
  for (const [name, provider] of entries(value['provider_config'])) {
    count();
    found.providers.push({
      at: pointerOf([...base, 'provider_config', name]),
      name: text(provider['full_name']) ?? text(provider['name']) ?? name,
      version: text(provider['version_constraint']),
    });
  }
  const walk = (module: JsonObject, path: readonly string[], address: string, depth: number): void => {
    if (depth > MAX_MODULE_DEPTH)
      refuse('too_deep', `Module calls are nested more than ${MAX_MODULE_DEPTH} levels deep`, null);
    const resources = module['resources'];
    if (Array.isArray(resources)) {
      resources.forEach((resource: JsonValue, i) => {
        count();
        if (!isJsonObject(resource)) return;
        const at = [...path, 'resources', String(i)];
        const name = `${address}${text(resource['address']) ?? ''}`;
        const type = text(resource['type']) ?? '';
        const expressions = resource['expressions'];
        if (isJsonObject(expressions)) {
          members.set(name, new Set(Object.keys(expressions)));
          for (const group of groupsOf(type, expressions)) groupsOfRules.add(`${address}${group}`);
        }
        if (resource['mode'] !== 'managed') found.dataSources.push({ at: pointerOf(at), address: name, type });
        const provisioners = resource['provisioners'];
        if (!Array.isArray(provisioners)) return;
        provisioners.forEach((provisioner: JsonValue, k) => {
          count();
          const kind = isJsonObject(provisioner) ? text(provisioner['type']) : null;
          found.provisioners.push({
            at: pointerOf([...at, 'provisioners', String(k)]),
            address: name,
            type: kind ?? 'unknown',
          });
        });
      });
    }
    for (const [name, call] of entries(module['module_calls'])) {
      count();
      if (name.length > MAX_NAME)
        refuse('invalid_document', `A module name is longer than ${MAX_NAME} characters`, null);
      const at = [...path, 'module_calls', name];
      found.modules.push({
        at: pointerOf(at),
        name: `${address}module.${name}`,
        source: text(call['source']) ?? '',
        version: text(call['version_constraint']),
      });
      const below = call['module'];
      if (isJsonObject(below)) walk(below, [...at, 'module'], `${address}module.${name}.`, depth + 1);
    }
  };
  const root = value['root_module'];
  if (isJsonObject(root)) walk(root, [...base, 'root_module'], '', 0);
  return { parts: found, configured };
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
  const references = isJsonObject(expression) ? expression['references'] : undefined;
  if (!Array.isArray(references)) return [];
  return references.flatMap((reference: JsonValue) => {
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

function text(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
