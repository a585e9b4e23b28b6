import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { withoutKeys } from './addresses';

/** A module of the configuration. The root module has no parent and no call. */
export interface Scope {
  readonly module: JsonObject;
  readonly parent: Scope | null;
  /** The call of the module, in its parent. */
  readonly call: JsonObject | null;
}

/** A local value, which a plan does not define. */
export const UNTRACED = 'local';
/** References that are too many, too deep or to something that the configuration does not contain. */
export const UNFOLLOWED = 'references that cannot be followed';
export const SENSITIVE_VARIABLE = 'sensitive variable';

const MAX_DEPTH = 60;
const MAX_KINDS = 50;

/**
 * What expressions refer to, through variables and outputs of modules: `aws_sns_topic.arn`, `data.aws_ami.id`,
 * `ephemeral.random_password.result`, `UNTRACED`, `UNFOLLOWED` or `SENSITIVE_VARIABLE`. A kind without the name of an attribute,
 * such as `aws_sns_topic`, is a whole resource, or an attribute that the plan does not name, as in `aws_sns_topic.mail[*].arn`.
 * Other variables of the root module, and names such as `count.index`, have values that a plan shows.
 */
export class References {
  readonly #known = new WeakMap<object, ReadonlySet<string>>();
  readonly #scopes = new WeakMap<object, Scope>();
  readonly #outputs = new WeakMap<object, readonly JsonValue[]>();

  /** `owner`: the resource or the call that has the expression, whose `for_each` gives `each` its meaning. */
  kindsOf(expression: JsonValue | undefined, scope: Scope, owner: JsonObject | null, depth = 0): ReadonlySet<string> {
    if (typeof expression !== 'object' || expression === null) return new Set();
    const known = this.#known.get(expression);
    if (known !== undefined) return known;
    if (depth > MAX_DEPTH) return new Set([UNFOLLOWED]);
    this.#known.set(expression, new Set([UNFOLLOWED]));
    const kinds = new Set<string>();
    for (const reference of new Set(referencesIn(expression))) {
      for (const kind of this.#follow(reference.split('.'), scope, owner, depth + 1)) kinds.add(kind);
      if (kinds.size > MAX_KINDS) break;
    }
    const bounded = kinds.size > MAX_KINDS ? new Set([...kinds].slice(0, MAX_KINDS)).add(UNFOLLOWED) : kinds;
    this.#known.set(expression, bounded);
    return bounded;
  }

  #follow(path: readonly string[], scope: Scope, owner: JsonObject | null, depth: number): Iterable<string> {
    const [first = '', second = '', third] = path;
    switch (first) {
      case 'count':
      case 'path':
      case 'self':
      case 'terraform':
        return [];
      case 'each':
        if (!isJsonObject(owner?.['for_each_expression'])) return [UNFOLLOWED];
        return this.kindsOf(owner['for_each_expression'], scope, null, depth);
      case 'var':
        return this.#variable(second, scope, depth);
      case 'module':
        return this.#output(second, third, scope, depth);
      case 'data':
      case 'ephemeral':
        return [[first, second, ...path.slice(3)].join('.')];
      case 'local':
        return [UNTRACED];
      default:
        return [[first, ...path.slice(2)].join('.')];
    }
  }

  #variable(name: string, { module, parent, call }: Scope, depth: number): Iterable<string> {
    const isSensitive = memberOf(memberOf(module['variables'], name), 'sensitive') === true;
    const kinds = parent === null ? [] : this.kindsOf(memberOf(call?.['expressions'], name), parent, call, depth);
    return isSensitive ? [...kinds, SENSITIVE_VARIABLE] : kinds;
  }

  #output(name: string, output: string | undefined, scope: Scope, depth: number): Iterable<string> {
    const call = memberOf(scope.module['module_calls'], name);
    const module = memberOf(call, 'module');
    if (!isJsonObject(call) || !isJsonObject(module)) return [UNFOLLOWED];
    const below = this.scopeBelow(scope, call, module);
    if (output === undefined) return this.kindsOf(this.#allOutputs(module), below, null, depth);
    const given = memberOf(module['outputs'], output);
    return given === undefined ? [UNFOLLOWED] : this.kindsOf(memberOf(given, 'expression'), below, null, depth);
  }

  /** The expressions of all outputs of a module, as one list for each module, by which `kindsOf` remembers it. */
  #allOutputs(module: JsonObject): readonly JsonValue[] {
    const outputs = isJsonObject(module['outputs']) ? Object.values(module['outputs']) : [];
    const expressions = this.#outputs.get(module) ?? outputs.map((output) => memberOf(output, 'expression') ?? null);
    this.#outputs.set(module, expressions);
    return expressions;
  }

  scopeBelow(parent: Scope, call: JsonObject, module: JsonObject): Scope {
    const scope = this.#scopes.get(module) ?? { module, parent, call };
    this.#scopes.set(module, scope);
    return scope;
  }
}

/** All references in an expression, or in the expressions of a block. */
function referencesIn(expression: JsonValue): string[] {
  if (typeof expression !== 'object' || expression === null) return [];
  if (Array.isArray(expression)) return expression.flatMap(referencesIn);
  return Object.entries(expression as JsonObject).flatMap(([name, value]) => {
    if (name === 'constant_value') return [];
    if (name !== 'references' || !Array.isArray(value)) return referencesIn(value);
    const references = value.filter((item: JsonValue): item is string => typeof item === 'string');
    return references.filter((item, i) => !isPartOf(references[i - 1], item)).map(withoutKeys);
  });
}

/**
 * Whether a reference is to a part of another one, which Terraform lists after it: `aws_sns_topic.mail[0].arn`, then
 * `aws_sns_topic.mail[0]`, then `aws_sns_topic.mail`. If another one comes before `aws_sns_topic.mail`, it is a reference to all of it.
 */
function isPartOf(part: string | undefined, whole: string): boolean {
  return part !== undefined && part.startsWith(whole) && /^[.[]/.test(part.slice(whole.length, whole.length + 1));
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
