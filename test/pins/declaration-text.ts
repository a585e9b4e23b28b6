import { declaredBy, hoistedIn, isNode, namesOf, nodes, textOf, type Node } from './syntax';

/** What a name that is not local stands for: text that counts as it is, or another declaration, which is visited. */
export type Meaning<Target> = string | { readonly target: Target };

export interface NameSource<Target> {
  /** Of a name that no scope inside the declaration declares. */
  readonly meaningOf: (name: string) => Meaning<Target>;
  /** Of `import(specifier)`. */
  readonly moduleAt: (specifier: string) => Meaning<Target>;
}

/** A declaration's text without names of locals, types, comments and layout. References stand apart, in their order. */
export interface DeclarationText<Target> {
  readonly text: string;
  readonly references: readonly Target[];
}

interface Scope {
  readonly names: ReadonlySet<string>;
  readonly outer: Scope | null;
  /** Ordinals of the scope's names in the order in which they occur. */
  readonly ordinals: Map<string, number>;
}

const inside = (outer: Scope | null, names: readonly string[]): Scope => ({
  names: new Set(names),
  outer,
  ordinals: new Map(),
});

/** Where a node was in the file, and what the parser notes for other tools. */
const PLACE_KEYS = new Set(['span', 'ctxt', 'raw', 'type']);
const KEYED = new Set([
  'KeyValueProperty',
  'KeyValuePatternProperty',
  'MethodProperty',
  'GetterProperty',
  'SetterProperty',
  'ClassMethod',
  'ClassProperty',
  'Constructor',
]);
const LOOPS = new Set(['ForStatement', 'ForInStatement', 'ForOfStatement']);

export function declarationText<Target>(node: unknown, source: NameSource<Target>): DeclarationText<Target> {
  const writer = new DeclarationWriter(source);
  writer.write(node, null);
  return { text: writer.words.join(' '), references: writer.references };
}

class DeclarationWriter<Target> {
  readonly words: string[] = [];
  readonly references: Target[] = [];
  readonly #source: NameSource<Target>;
  #locals = 0;

  constructor(source: NameSource<Target>) {
    this.#source = source;
  }

  write(value: unknown, scope: Scope | null): void {
    if (Array.isArray(value)) {
      this.words.push('[');
      for (const item of value) this.write(item, scope);
      this.words.push(']');
      return;
    }
    if (!isNode(value)) {
      this.words.push(JSON.stringify(value) ?? '-');
      return;
    }
    // The place of a spread or rest token: that it is there counts.
    if (value.type === undefined && 'start' in value && 'end' in value) this.words.push('present');
    else if ('params' in value) this.#function(value, scope);
    else this.#node(value, scope);
  }

  #node(node: Node, scope: Scope | null): void {
    switch (node.type) {
      case 'Identifier':
        return this.#name(textOf(node), scope);
      case 'ParenthesisExpression':
        return this.write(node['expression'], scope);
      case 'StringLiteral':
        // As printed: the parsed value cannot have half of a surrogate pair.
        return this.#words('string', JSON.stringify(node['raw'] ?? node['value']));
      case 'MemberExpression':
      case 'SuperPropExpression':
        this.#words(node.type);
        this.write(node['object'] ?? 'super', scope);
        return this.#key(node['property'], scope);
      case 'ObjectExpression':
        return this.#properties(node, scope);
      case 'AssignmentPatternProperty':
        return this.#shorthandPattern(node, scope);
      case 'LabeledStatement':
        return this.#labelled(node, scope);
      case 'BreakStatement':
      case 'ContinueStatement':
        this.#words(node.type);
        return isNode(node['label']) ? this.#name(labelName(node['label']), scope) : undefined;
      case 'CallExpression':
        return this.#call(node, scope);
      default:
        return this.#members(node, this.#scopeOf(node, scope));
    }
  }

  /** Every member of the node in the parser's order. */
  #members(node: Node, scope: Scope | null): void {
    this.#words(`(${node.type ?? 'function'}`);
    for (const [key, value] of Object.entries(node)) {
      if (PLACE_KEYS.has(key)) continue;
      if (key === 'key' && KEYED.has(node.type ?? '')) this.#key(value, scope);
      else this.write(value, scope);
    }
    this.#words(')');
  }

  #scopeOf(node: Node, scope: Scope | null): Scope | null {
    if (node.type === 'BlockStatement' || node.type === 'FunctionBody')
      return inside(scope, nodes(node['stmts']).flatMap(declaredBy));
    if (node.type === 'SwitchStatement')
      return inside(
        scope,
        nodes(node['cases']).flatMap((one) => nodes(one['consequent']).flatMap(declaredBy)),
      );
    if (node.type === 'CatchClause') return inside(scope, namesOf(node['param']));
    if (node.type === 'ClassExpression') return inside(scope, namesOf(node['identifier']));
    if (LOOPS.has(node.type ?? '')) return inside(scope, declaredBy(node['init'] ?? node['left']));
    return scope;
  }

  /** A function's name is seen in its parameters, both in its body; what the body declares is not seen in the parameters. */
  #function(node: Node, scope: Scope | null): void {
    const { body, params, key, ...rest } = node;
    const named = node.type === 'FunctionExpression' ? inside(scope, namesOf(node['identifier'])) : scope;
    if (key !== undefined) this.#key(key, scope);
    const own = inside(named, nodes(params).flatMap(namesOf));
    this.#words(`(${node.type ?? 'function'}`);
    for (const [member, value] of Object.entries(rest)) if (!PLACE_KEYS.has(member)) this.write(value, named);
    this.write(params, own);
    this.write(body, inside(own, hoistedIn(body)));
    this.#words(')');
  }

  /** `{ a }` counts as `{ a: a }`. */
  #properties(node: Node, scope: Scope | null): void {
    this.#words('(ObjectExpression');
    for (const property of nodes(node['properties'])) {
      if (property.type !== 'Identifier') {
        this.write(property, scope);
        continue;
      }
      this.#words('(KeyValueProperty');
      this.#key(property, scope);
      this.write(property, scope);
      this.#words(')');
    }
    this.#words(')');
  }

  /** `{ a = 1 }` counts as `{ a: a = 1 }`. */
  #shorthandPattern(node: Node, scope: Scope | null): void {
    const { key, value } = node;
    this.#words('(KeyValuePatternProperty');
    this.#key(key, scope);
    this.write(
      value === null || value === undefined ? key : { type: 'AssignmentPattern', left: key, right: value },
      scope,
    );
    this.#words(')');
  }

  #labelled(node: Node, scope: Scope | null): void {
    const label = labelName(node['label']);
    this.#words(node.type ?? '');
    const own = inside(scope, [label]);
    this.#name(label, own);
    this.write(node['body'], own);
  }

  #call(node: Node, scope: Scope | null): void {
    const [first] = nodes(node['arguments']);
    const specifier = first?.['expression'];
    const isImport = isNode(node['callee']) && node['callee'].type === 'Import';
    if (!isImport || !isNode(specifier) || specifier.type !== 'StringLiteral') return this.#members(node, scope);
    this.#words('import()');
    this.#meaning(this.#source.moduleAt(textOf(specifier)));
  }

  /** A key or a property name: it counts as it is, written with quotes or without. */
  #key(key: unknown, scope: Scope | null): void {
    if (!isNode(key)) return;
    if (key.type === 'Identifier' || key.type === 'StringLiteral') this.#words('key', JSON.stringify(textOf(key)));
    else this.write(key, scope);
  }

  #name(name: string, scope: Scope | null): void {
    for (let at = scope; at !== null; at = at.outer) {
      if (!at.names.has(name)) continue;
      const ordinal = at.ordinals.get(name) ?? this.#locals++;
      at.ordinals.set(name, ordinal);
      return this.#words(`local${ordinal}`);
    }
    this.#meaning(this.#source.meaningOf(name));
  }

  #meaning(meaning: Meaning<Target>): void {
    if (typeof meaning === 'string') return this.#words(meaning);
    this.#words('reference');
    this.references.push(meaning.target);
  }

  #words(...words: readonly string[]): void {
    this.words.push(...words);
  }
}

/** No identifier has a colon. */
const labelName = (label: unknown): string => `label:${textOf(label)}`;
