import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { withoutKeys } from './addresses';

/** A module of the configuration. The root module has no parent and no call. */
export interface Scope {
  readonly module: JsonObject;
  readonly parent: Scope | null;
  /** The call of the module, in its parent. */
  readonly call: JsonObject | null;
}

/** A reference that cannot be followed: a local value, which a plan does not define, or too many references. */
export const UNTRACED = 'local';
export const SENSITIVE_VARIABLE = 'sensitive variable';

const MAX_DEPTH = 60;
const MAX_KINDS = 50;

/**
 * What expressions refer to, through variables and outputs of modules: `aws_sns_topic.arn`, `data.aws_ami.id`,
 * `ephemeral.random_password.result`, `UNTRACED` or `SENSITIVE_VARIABLE`. Other variables of the root module, and names such as
 * `count.index`, have values that a plan shows.
 */
export class References {
  readonly #known = new WeakMap<object, ReadonlySet<string>>();
  readonly #scopes = new WeakMap<object, Scope>();

  /** `owner`: the resource or the call that has the expression, whose `for_each` gives `each` its meaning. */
  kindsOf(expression: JsonValue | undefined, scope: Scope, owner: JsonObject | null, depth = 0): ReadonlySet<string> {
    if (typeof expression !== 'object' || expression === null) return new Set();
    const known = this.#known.get(expression);
    if (known !== undefined) return known;
    if (depth > MAX_DEPTH) return new Set([UNTRACED]);
    this.#known.set(expression, new Set([UNTRACED]));
    const kinds = new Set<string>();
    for (const reference of mostSpecific(referencesIn(expression))) {
      for (const kind of this.#follow(reference.split('.'), scope, owner, depth + 1)) kinds.add(kind);
      if (kinds.size > MAX_KINDS) break;
    }
    const bounded = kinds.size > MAX_KINDS ? new Set([...kinds].slice(0, MAX_KINDS)).add(UNTRACED) : kinds;
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
        return this.kindsOf(owner?.['for_each_expression'], scope, null, depth);
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
    if (output === undefined || !isJsonObject(call) || !isJsonObject(module)) return [UNTRACED];
    const expression = memberOf(memberOf(module['outputs'], output), 'expression');
    return this.kindsOf(expression, this.scopeBelow(scope, call, module), null, depth);
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
    return value.flatMap((item: JsonValue) => (typeof item === 'string' ? [withoutKeys(item)] : []));
  });
}

/** Terraform lists `aws_sns_topic.mail` next to `aws_sns_topic.mail.arn`. */
function mostSpecific(references: readonly string[]): string[] {
  const shorter = new Set(
    references.flatMap((reference) => {
      const parts = reference.split('.').slice(0, 8);
      return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('.'));
    }),
  );
  return [...new Set(references)].filter((reference) => !shorter.has(reference));
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
